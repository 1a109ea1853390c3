// How a request ended: the reward with its parts, or what kept it from having one.

import { Paper, Stack, Text } from "@mantine/core";
import { Kind } from "../../../parts/Dot";
import { Facts } from "../../../parts/Facts";
import { Grid } from "../../../parts/Grid";
import type { Outcome } from "../queries";
import { Section } from "../Section";

export function OutcomeView({ outcome }: { outcome: Outcome | undefined }) {
  return (
    <Section title="Outcome">
      {outcome ? (
        <OutcomeBody outcome={outcome} />
      ) : (
        <Text size="sm" c="dimmed">
          It waits or runs still; this page shows its outcome when it is there.
        </Text>
      )}
    </Section>
  );
}

export function OutcomeBody(props: {
  outcome: Outcome;
  /** Where several outcomes stand beside each other. */
  which?: string;
}) {
  const { outcome, which = "" } = props;
  return (
    <Stack gap="sm">
      <Facts
        items={[{ label: "Kind", value: <Kind kind={outcome.kind} /> }, ...factsOf(outcome)]}
      />
      {outcome.kind === "scored" && outcome.explanation && <Raw text={outcome.explanation} />}
      {outcome.kind === "error" && outcome.message && <Raw text={outcome.message} />}
      {outcome.kind === "scored" && (
        <Components caption={`Components of the reward ${which}`} of={outcome.components ?? {}} />
      )}
    </Stack>
  );
}

function factsOf(outcome: Outcome) {
  switch (outcome.kind) {
    case "scored":
      return [
        { label: "Reward", value: <strong>{outcome.reward}</strong> },
        { label: "Verdict", value: outcome.verdict },
      ];
    case "timed_out":
      return [
        {
          label: "Reward",
          value: <strong>{outcome.reward}</strong>,
          note: "the plugin's for timeouts",
        },
        { label: "In stage", value: outcome.stage },
      ];
    case "error":
      return [
        { label: "Reward", value: "none", note: "a failure is never a number" },
        { label: "Code", value: outcome.code },
        { label: "Attempts", value: outcome.attempts },
        {
          label: "Again",
          value: outcome.retryable ? "may end otherwise" : "would end alike",
        },
      ];
  }
}

function Components({ caption, of }: { caption: string; of: Record<string, number> }) {
  const rows = Object.entries(of);
  if (rows.length === 0) return null;
  return (
    <Grid
      caption={caption}
      columns={[
        { title: "Component", cell: ([name]) => <span className="broken">{name}</span> },
        { title: "Value", number: true, cell: ([, value]) => value },
      ]}
      rows={rows}
      rowKey={([name]) => name}
      maxHeight={280}
    />
  );
}

function Raw({ text }: { text: string }) {
  return (
    <Paper withBorder p="xs">
      <pre className="raw">{text}</pre>
    </Paper>
  );
}
