// A list of labels and values: a row of tiles with the most important ones, then the others.

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
  /** Shown large, in a tile: for the few numbers that are looked at first. */
  tile?: boolean;
  /** A small chart below a tile's value. */
  spark?: ReactNode;
}

export function Facts({ items }: { items: readonly Fact[] }) {
  const tiles = items.filter(({ tile }) => tile);
  const others = items.filter(({ tile }) => !tile);
  return (
    <div>
      {tiles.length > 0 && <FactList className="tiles" items={tiles} />}
      {others.length > 0 && <FactList className="facts" items={others} />}
    </div>
  );
}

function FactList({ className, items }: { className: string; items: readonly Fact[] }) {
  return (
    <dl className={className}>
      {items.map(({ label, hint, explain, value, note, spark }) => (
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
          {spark && <dd style={{ margin: 0 }}>{spark}</dd>}
        </div>
      ))}
    </dl>
  );
}
