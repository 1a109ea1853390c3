// Nothing is live: how a batch comes to be.

import { Stack, Text } from "@mantine/core";
import { Command } from "../../../parts/Command";
import { Empty } from "../../../parts/states";

const SCORE = "assay score FILE.jsonl --plugin math@prod";

/** The dashboard's own address is the server's. */
function curl(): string {
  return [
    `curl ${window.location.origin}/v1/rewards \\`,
    '  -H "Authorization: Bearer $ASSAY_API_KEY" -H "Content-Type: application/json" \\',
    `  -d '{"plugin": "math@prod", "response": "\\\\boxed{42}", "label": "42"}'`,
  ].join("\n");
}

export function FirstBatch() {
  return (
    <Empty title="No batch is live">
      <Stack gap="xs">
        <Text size="sm">Send one: a line of JSON a request, with a key from Admin.</Text>
        <Command text={SCORE} />
        <Text size="sm">Or a single request, its reward in the answer:</Text>
        <Command text={curl()} />
      </Stack>
    </Empty>
  );
}
