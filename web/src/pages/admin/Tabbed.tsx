// Tabs whose selection is part of the URL.

import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { useAdminSearch } from "./tabs";

export interface Tab {
  value: string;
  label: string;
  show: () => ReactNode;
}

export function Tabbed({ label, tabs }: { label: string; tabs: [Tab, ...Tab[]] }) {
  const { search, set } = useAdminSearch();
  const chosen = tabs.find(({ value }) => value === search.tab) ?? tabs[0];
  return (
    <Tabs
      value={chosen.value}
      keepMounted={false}
      // Filters of one tab do not apply to another tab.
      onChange={(tab) => set(tab ? { tab } : {})}
    >
      <Tabs.List aria-label={label}>
        {tabs.map((tab) => (
          <Tabs.Tab key={tab.value} value={tab.value}>
            {tab.label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map((tab) => (
        <Tabs.Panel key={tab.value} value={tab.value} pt="md">
          {tab.show()}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
