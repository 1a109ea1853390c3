// The compared requests: totals, verdicts against each other, changes of the reward, and the requests that changed.

import { Anchor, Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Badge } from "../../../parts/Badge";
import { Bars } from "../../../parts/Bars";
import { Facts } from "../../../parts/Facts";
import { Figure } from "../../../parts/Figure";
import { count, NONE, percent, reward, signed } from "../../../parts/format";
import { type Column, Grid } from "../../../parts/Grid";
import { Name } from "../../../parts/Name";
import { Reward } from "../../../parts/Reward";
import { TextLink } from "../../../parts/TextLink";
import {
  type Compared,
  type Confusion,
  changeOf,
  confusionOf,
  histogramOf,
  meansOf,
  pairOf,
  rewardOf,
} from "./results";

/** A cell of the table of verdicts. */
interface Pair {
  before: string;
  after: string;
}

export function Results(props: { results: readonly Compared[]; before: string; after: string }) {
  const { results, before, after } = props;
  const [chosen, setChosen] = useState<Pair>();
  const changed = results.filter(({ replay }) => !replay.agrees);
  const shown = chosen
    ? results.filter((result) => {
        const pair = pairOf(result);
        return pair.before === chosen.before && pair.after === chosen.after;
      })
    : changed;
  return (
    <Stack gap="md">
      <Totals results={results} changed={changed.length} />
      <Verdicts
        confusion={confusionOf(results)}
        before={before}
        after={after}
        chosen={chosen}
        onChoose={setChosen}
      />
      <Changes results={results} />
      <Paper withBorder p="md" component="section" aria-label="Requests">
        <Group justify="space-between" mb="xs">
          <Title order={2}>
            {chosen ? `From ${chosen.before} to ${chosen.after}` : "Changed requests"}
          </Title>
          {chosen && (
            <Button size="xs" variant="default" onClick={() => setChosen(undefined)}>
              Show all changed
            </Button>
          )}
        </Group>
        {shown.length === 0 ? (
          <Text size="sm">No request changed its verdict or reward.</Text>
        ) : (
          <Grid
            caption="Compared requests"
            maxHeight={520}
            columns={COLUMNS}
            rows={shown}
            rowKey={({ sample }) => sample.id}
          />
        )}
      </Paper>
    </Stack>
  );
}

function Totals({ results, changed }: { results: readonly Compared[]; changed: number }) {
  const means = meansOf(results);
  const errors = results.filter(({ replay }) => replay.replayed.outcome.kind === "error").length;
  return (
    <Facts
      items={[
        { label: "Compared", tile: true, value: count(results.length), note: "requests" },
        {
          label: "Changed",
          tile: true,
          value: count(changed),
          note: `${percent(changed / results.length)} of them`,
        },
        {
          label: "Mean reward",
          tile: true,
          value: means ? `${reward(means.before)} → ${reward(means.after)}` : NONE,
          note: means ? signed(means.after - means.before) : undefined,
        },
        {
          label: "Errors",
          tile: true,
          value: count(errors),
          note: "by this version; they have no reward",
        },
      ]}
    />
  );
}

function Verdicts(props: {
  confusion: Confusion;
  before: string;
  after: string;
  chosen: Pair | undefined;
  onChoose: (pair: Pair) => void;
}) {
  const { confusion, before, after, chosen, onChoose } = props;
  const { verdicts, counts } = confusion;
  const rows = verdicts.filter((verdict) => counts.has(verdict));
  const columns = verdicts.filter((verdict) => rows.some((row) => counts.get(row)?.has(verdict)));
  const table = () => ({
    columns: [`Verdict by ${before}`, ...columns.map((verdict) => `${verdict} by ${after}`)],
    rows: rows.map((row) => [row, ...columns.map((column) => counts.get(row)?.get(column) ?? 0)]),
  });
  return (
    <Figure
      title="Verdicts"
      about={`Rows: recorded by ${before}. Columns: now by ${after}. Choose a number to see its requests.`}
      table={table}
    >
      <Grid
        caption="Verdicts before and after"
        columns={[
          { title: before, cell: (row: string) => <Badge>{row}</Badge> },
          ...columns.map(
            (column): Column<string> => ({
              title: column,
              number: true,
              cell: (row) => {
                const requests = counts.get(row)?.get(column);
                if (!requests) return "";
                const pressed = chosen?.before === row && chosen.after === column;
                return (
                  <Anchor
                    component="button"
                    type="button"
                    size="sm"
                    fw={row === column ? 400 : 700}
                    aria-pressed={pressed}
                    aria-label={`${requests} from ${row} to ${column}`}
                    onClick={() => onChoose({ before: row, after: column })}
                  >
                    {count(requests)}
                  </Anchor>
                );
              },
            }),
          ),
        ]}
        rows={rows}
        rowKey={(row) => row}
      />
    </Figure>
  );
}

/** Nothing where no reward changed. */
function Changes({ results }: { results: readonly Compared[] }) {
  const changes = results.map(changeOf).filter((change) => change !== null);
  const histogram = histogramOf(changes);
  if (!histogram) return null;
  const { from, step, counts } = histogram;
  const low = (at: number) => from + at * step;
  const label = (at: number) => `${signed(low(at))} to ${signed(low(at + 1))}`;
  const equal = changes.filter((change) => change === 0).length;
  return (
    <Figure
      title="Changes of the reward"
      about={`Reward by this version minus the recorded one. ${count(equal)} rewards are equal and left out.`}
      table={() => ({
        columns: ["Change", "Requests"],
        rows: counts.map((requests, at) => [label(at), requests]),
      })}
    >
      <Bars
        label="Number of requests by change of the reward"
        values={counts}
        barLabel={(at) => `${count(counts[at])} requests: ${label(at)}`}
        tick={(at) => signed(low(at))}
        tickWidth={48}
        format={count}
        mark={{ at: counts.length / 2, label: "no change" }}
      />
    </Figure>
  );
}

const COLUMNS: Column<Compared>[] = [
  {
    title: "Request",
    opens: true,
    cell: ({ sample }) => (
      <TextLink to="/requests/$request" params={{ request: sample.id }}>
        <Name text={sample.key} />
      </TextLink>
    ),
  },
  { title: "Run", cell: ({ sample }) => <Name text={sample.run} /> },
  {
    title: "Response",
    cell: ({ sample }) => (
      <Text size="sm" className="start" lineClamp={2}>
        <bdi>{sample.response.replace(/\s+/g, " ") || NONE}</bdi>
      </Text>
    ),
  },
  {
    title: "Verdict before",
    tight: true,
    cell: (result) => <Badge>{pairOf(result).before}</Badge>,
  },
  {
    title: "Verdict now",
    tight: true,
    cell: (result) => <Badge>{pairOf(result).after}</Badge>,
  },
  {
    title: "Reward before",
    number: true,
    cell: ({ replay }) => <Reward of={rewardOf(replay.recorded.outcome)} />,
  },
  {
    title: "Reward now",
    number: true,
    cell: ({ replay }) => <Reward of={rewardOf(replay.replayed.outcome)} />,
  },
  { title: "Change", number: true, cell: (result) => signed(changeOf(result)) },
  {
    title: "Replay",
    cell: ({ replay }) => (
      <TextLink to="/requests/$request" params={{ request: replay.replayed.id }}>
        Open
      </TextLink>
    ),
  },
];
