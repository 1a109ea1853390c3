// The legend of the timeline.

import { Group, Text, useComputedColorScheme } from "@mantine/core";
import type { CSSProperties } from "react";
import { stageColours } from "./colours";

export function Legend({ stages }: { stages: string[] }) {
  const colours = stageColours(useComputedColorScheme());
  return (
    <Group gap="md" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
      <Entry name="queued" style={{ background: "var(--assay-waiting)" }} />
      {stages.map((name, at) => (
        <Entry
          key={name}
          name={name}
          style={{ background: colours[at % colours.length] ?? "currentColor" }}
        />
      ))}
      <Entry
        name="failed"
        style={{ background: "var(--assay-bad)", clipPath: "polygon(0 50%, 100% 0, 100% 100%)" }}
      />
      <Entry name="timed out" style={{ background: "var(--assay-late)", width: 4 }} />
      <Entry name="critical" style={{ border: "1.5px solid var(--assay-ink)" }} />
      <Entry name="ended last" style={{ border: "1.5px dashed var(--assay-late)" }} />
    </Group>
  );
}

function Entry({ name, style }: { name: string; style: CSSProperties }) {
  return (
    <Group gap={6} component="li" wrap="nowrap">
      <span aria-hidden style={{ width: 14, height: 10, flex: "none", ...style }} />
      <Text span size="xs">
        {name}
      </Text>
    </Group>
  );
}
