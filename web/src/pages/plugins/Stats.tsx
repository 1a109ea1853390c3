// Statistics of a version: stage times, verdicts, and the runs that use it.

import { NativeSelect, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Command } from "../../parts/Command";
import { Facts } from "../../parts/Facts";
import { ago, count, moment, reward } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { Reward } from "../../parts/Reward";
import { Answer, Empty } from "../../parts/states";
import { TextLink } from "../../parts/TextLink";
import { type PluginStats, statsQuery } from "./queries";
import { ShareTable } from "./ShareTable";
import { StageTimes } from "./StageTimes";

const route = getRouteApi("/shell/plugins/$name/$version");
/** The server sums up the latest batches only; see VERSION_BATCHES_MAX. */
const BATCHES_MAX = 200;
const RANGES = [
  { value: "", label: "At any time" },
  { value: "1", label: "In the last day" },
  { value: "7", label: "In the last 7 days" },
  { value: "30", label: "In the last 30 days" },
];

export function Stats() {
  const { name, version } = route.useParams();
  const { days } = route.useSearch();
  const navigate = route.useNavigate();
  const stats = useQuery(statsQuery(name, version, days));
  return (
    <Stack>
      <NativeSelect
        size="xs"
        label={`Last ${BATCHES_MAX} batches that ended`}
        w={240}
        data={RANGES}
        value={days ? String(days) : ""}
        onChange={(event) => {
          const chosen = Number(event.currentTarget.value);
          void navigate({ search: chosen ? { days: chosen } : {} });
        }}
      />
      <Answer query={stats} what="the statistics" height={320}>
        {(answer) =>
          answer.batches === 0 ? (
            <Empty title="No batches in this period">
              Score a file with this version:
              <Command text={`assay score FILE.jsonl --plugin ${name}@${version}`} />
            </Empty>
          ) : (
            <Content stats={answer} />
          )
        }
      </Answer>
    </Stack>
  );
}

function Content({ stats }: { stats: PluginStats }) {
  const { counts } = stats;
  return (
    <Stack>
      <Facts
        items={[
          {
            label: "Batches",
            value: count(stats.batches),
            note: `${moment(stats.from)} to ${moment(stats.to)}`,
          },
          { label: "Requests", tile: true, value: count(counts.submitted) },
          { label: "Mean reward", tile: true, value: reward(stats.mean_reward) },
          { label: "Scored", value: count(counts.scored) },
          { label: "Timed out", tile: true, value: count(counts.timed_out) },
          { label: "Errors", tile: true, value: count(counts.error) },
        ]}
      />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {stats.stages.map((stage) => (
          <StageTimes key={`${stage.stage} ${stage.timeout_ms}`} stage={stage} />
        ))}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Section title="Verdicts">
          <ShareTable caption="Requests by verdict" of="Verdict" counts={stats.verdicts} />
        </Section>
        <Section title="Errors by code">
          {Object.keys(stats.errors).length === 0 ? (
            <Text size="sm">None</Text>
          ) : (
            <ShareTable caption="Requests by error" of="Code" counts={stats.errors} />
          )}
        </Section>
      </SimpleGrid>
      <Section title="Runs on this version">
        <Runs stats={stats} />
      </Section>
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function Runs({ stats }: { stats: PluginStats }) {
  return (
    <Grid
      caption={`Runs on ${stats.plugin}`}
      rows={stats.runs}
      rowKey={({ run }) => run}
      maxHeight={360}
      columns={[
        {
          title: "Run",
          opens: true,
          cell: ({ run }) => (
            <TextLink to="/runs/$run" params={{ run }}>
              {run}
            </TextLink>
          ),
        },
        { title: "Batches", number: true, cell: ({ batches }) => count(batches) },
        {
          title: "Last mean reward",
          number: true,
          cell: (run) => <Reward of={run.last_mean_reward} />,
        },
        { title: "Last batch", cell: (run) => ago(run.last_batch_at) },
      ]}
    />
  );
}
