// A list of labels and values, the most important ones first.

import { Text } from "@mantine/core";
import type { ReactNode } from "react";

export interface Fact {
  label: string;
  /** Explains the label in a tooltip. */
  hint?: string;
  /** A button beside the label that explains it. */
  explain?: ReactNode;
  value: ReactNode;
  /** Small text below the value. */
  note?: ReactNode;
}

/** The number of facts that are shown large, if there are more than these. */
const TILES = 4;

export function Facts({ items }: { items: readonly Fact[] }) {
  if (items.length <= TILES) return <FactList className="facts" items={items} />;
  return (
    <div>
      <FactList className="tiles" items={items.slice(0, TILES)} />
      <FactList className="facts" items={items.slice(TILES)} />
    </div>
  );
}

function FactList({ className, items }: { className: string; items: readonly Fact[] }) {
  return (
    <dl className={className}>
      {items.map(({ label, hint, explain, value, note }) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed" title={hint}>
            {label}
            {explain}
          </Text>
          <Text component="dd" m={0} size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
            {value}
          </Text>
          {note != null && (
            <Text component="dd" m={0} size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {note}
            </Text>
          )}
        </div>
      ))}
    </dl>
  );
}
