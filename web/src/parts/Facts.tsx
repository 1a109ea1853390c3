// What a thing is in a row of names and values, the important ones first.

import { Text } from "@mantine/core";
import type { ReactNode } from "react";

export interface Fact {
  label: string;
  value: ReactNode;
  /** A smaller word below it. */
  note?: ReactNode;
}

export function Facts({ items }: { items: readonly Fact[] }) {
  return (
    <dl className="facts">
      {items.map(({ label, value, note }) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
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
