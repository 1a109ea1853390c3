// A shell command with a Copy button.

import { Group } from "@mantine/core";
import { Copy } from "./Copy";

export function Command({ text, label = "Copy" }: { text: string; label?: string }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" w="100%">
      <pre className="raw command">{text}</pre>
      <Copy text={text} label={label} />
    </Group>
  );
}
