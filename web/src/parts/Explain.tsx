// A button with a question mark that explains a term in a popover.

import { Popover, Text, UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";

export function Explain({ term, children }: { term: string; children: ReactNode }) {
  return (
    <Popover width={320} position="bottom-start" withArrow shadow="md" trapFocus={false}>
      <Popover.Target>
        <UnstyledButton className="explain" aria-label={`What is ${term}?`}>
          ?
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm" component="div">
          {children}
        </Text>
      </Popover.Dropdown>
    </Popover>
  );
}
