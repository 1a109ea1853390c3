// The channels of a plugin with their versions.

import { Stack, Text } from "@mantine/core";
import { TextLink } from "../../parts/TextLink";
import type { PluginVersions } from "./versions";

export function Channels({ of }: { of: PluginVersions }) {
  if (of.channels.length === 0) return <Text size="sm">none</Text>;
  return (
    <Stack gap={2}>
      {of.channels.map(({ channel, version }) => (
        <Text key={channel} size="sm">
          {channel} →{" "}
          <TextLink to="/plugins/$name/$version" params={{ name: of.name, version }}>
            {version}
          </TextLink>
        </Text>
      ))}
    </Stack>
  );
}
