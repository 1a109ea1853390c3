// Instructions for a first batch, shown while no batch is live.

import { Stack, Text } from "@mantine/core";
import { Command } from "../../../parts/Command";
import { Empty } from "../../../parts/states";

const SCORE = "assay score FILE.jsonl --plugin math@prod";

/** The dashboard and the API share one origin. */
function curl(): string {
  return [
    `curl ${window.location.origin}/v1/rewards \\`,
    '  -H "Authorization: Bearer $ASSAY_API_KEY" -H "Content-Type: application/json" \\',
    `  -d '{"plugin": "math@prod", "response": "\\\\boxed{42}", "label": "42"}'`,
  ].join("\n");
}

export function FirstBatch() {
  return (
    <Empty title="No live batches">
      <Stack gap="xs">
        <Text size="sm">
          Score a file with one JSON object per line. You need an API key: an administrator of the
          tenant creates it under Admin, Keys.
        </Text>
        <Command text={SCORE} />
        <Text size="sm">Or send one request and get its reward in the response:</Text>
        <Command text={curl()} />
      </Stack>
    </Empty>
  );
}
