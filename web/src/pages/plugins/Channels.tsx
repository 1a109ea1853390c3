// Where each channel of a plugin points.

import { Stack, Text } from "@mantine/core";
import { Go } from "../../parts/Go";
import type { PluginVersions } from "./versions";

export function Channels({ of }: { of: PluginVersions }) {
  if (of.channels.length === 0) return <Text size="sm">none</Text>;
  return (
    <Stack gap={2}>
      {of.channels.map(({ channel, version }) => (
        <Text key={channel} size="sm">
          {channel} →{" "}
          <Go to="/plugins/$name/$version" params={{ name: of.name, version }}>
            {version}
          </Go>
        </Text>
      ))}
    </Stack>
  );
}
