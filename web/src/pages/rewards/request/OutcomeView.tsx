// The outcome of a request: the reward with its components, or the error.

import { Paper, Stack, Text } from "@mantine/core";
import { Status } from "../../../parts/Badge";
import { type Fact, Facts } from "../../../parts/Facts";
import { Grid } from "../../../parts/Grid";
import { Name } from "../../../parts/Name";
import type { Outcome } from "../queries";
import { Section } from "../Section";

export function OutcomeView({ outcome }: { outcome: Outcome | undefined }) {
  return (
    <Section title="Outcome">
      {outcome ? (
        <OutcomeBody outcome={outcome} />
      ) : (
        <Text size="sm" c="dimmed">
          In progress. The result appears here.
        </Text>
      )}
    </Section>
  );
}

export function OutcomeBody(props: {
  outcome: Outcome;
  /** Distinguishes several outcomes on one page. */
  which?: string;
}) {
  const { outcome, which = "" } = props;
  return (
    <Stack gap="sm">
      <Facts
        items={[
          { label: "Outcome", tile: true, value: <Status kind={outcome.kind} /> },
          ...factsOf(outcome),
        ]}
      />
      {outcome.kind === "scored" && outcome.explanation && <Raw text={outcome.explanation} />}
      {outcome.kind === "error" && outcome.message && <Raw text={outcome.message} />}
      {outcome.kind === "scored" && (
        <Components
          caption={which ? `Reward components, ${which}` : "Reward components"}
          of={outcome.components ?? {}}
        />
      )}
    </Stack>
  );
}

function factsOf(outcome: Outcome): Fact[] {
  switch (outcome.kind) {
    case "scored":
      return [
        { label: "Reward", tile: true, value: outcome.reward },
        { label: "Verdict", tile: true, value: outcome.verdict },
      ];
    case "timed_out":
      return [
        {
          label: "Reward",
          tile: true,
          value: outcome.reward,
          note: "set by the plugin for timeouts",
        },
        { label: "Stage", tile: true, value: outcome.stage },
      ];
    case "error":
      return [
        { label: "Reward", tile: true, value: "none", note: "No reward is recorded for errors" },
        { label: "Code", tile: true, value: outcome.code },
        { label: "Attempts", value: outcome.attempts },
        {
          label: "Retryable",
          value: outcome.retryable ? "yes" : "no",
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
        { title: "Component", cell: ([name]) => <Name text={name} /> },
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
