// Runs over each other: one number of all of them, smoothed, by an axis of choice.

import { Group, MultiSelect, NativeSelect, Slider, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { CopyLink } from "../../../parts/CopyLink";
import { Figure } from "../../../parts/Figure";
import { count, NONE, percent, reward, span } from "../../../parts/format";
import { visible } from "../../../parts/names";
import { Page } from "../../../parts/Page";
import { Plot } from "../../../parts/Plot";
import { present } from "../../../parts/search";
import { Empty, Failed, Loading } from "../../../parts/states";
import { ITERATIONS_MAX, runQuery, runsQuery } from "../queries";
import type { Iterations } from "../runs/fold";
import type { CompareSearch } from "../searches";
import {
  AXES,
  type Axis,
  compared,
  countsFromFirst,
  METRICS,
  type Metric,
  RUNS_MAX,
} from "./compare";

const route = getRouteApi("/shell/compare");

const METRIC_LABELS: Record<Metric, string> = {
  mean: "Mean reward",
  std: "Standard deviation of rewards",
  "zero-variance": "Groups with zero variance",
  failed: "Failed requests",
  "extra-delay": "Extra delay",
  "worker-time": "Worker time",
};
const FORMATS: Record<Metric, (value: number) => string> = {
  mean: reward,
  std: reward,
  "zero-variance": percent,
  failed: percent,
  "extra-delay": span,
  "worker-time": span,
};
const AXIS_LABELS: Record<Axis, string> = {
  iteration: "Iteration",
  requests: "Requests so far",
  elapsed: "Time since the first batch",
  time: "Date and time",
};

export function Compare() {
  const search = route.useSearch();
  const { runs = [], metric = "mean", axis = "iteration", smoothing = 0 } = search;
  const navigate = route.useNavigate();
  const go = (change: { [K in keyof CompareSearch]: CompareSearch[K] | undefined }) =>
    void navigate({ search: present({ ...search, ...change }), replace: true, resetScroll: false });
  const views = useQueries({
    queries: runs.map((run) => runQuery(run, ITERATIONS_MAX, undefined)),
  });
  const failed = views.find(({ isError }) => isError);
  const known = runs.flatMap((run, at) => {
    const view = views[at]?.data;
    return view ? [{ run, iterations: view.iterations, earlier: view.earlier, colour: at }] : [];
  });
  const placed = known.filter(({ earlier }) => !(earlier && countsFromFirst(axis)));
  const unplaced = known.filter((one) => !placed.includes(one)).map(({ run }) => visible(run));
  return (
    <Page title="Compare runs" crumbs={[{ label: "Runs", to: "/runs" }]} actions={<CopyLink />}>
      <Group gap="sm" align="end" className="filters">
        <RunsField
          runs={runs}
          onChange={(next) => go({ runs: next.length > 0 ? next : undefined })}
        />
        <NativeSelect
          size="xs"
          label="Number"
          data={METRICS.map((value) => ({ value, label: METRIC_LABELS[value] }))}
          value={metric}
          onChange={({ currentTarget: { value } }) =>
            go({ metric: METRICS.find((one) => one === value && one !== "mean") })
          }
        />
        <NativeSelect
          size="xs"
          label="Axis"
          data={AXES.map((value) => ({ value, label: AXIS_LABELS[value] }))}
          value={axis}
          onChange={({ currentTarget: { value } }) =>
            go({ axis: AXES.find((one) => one === value && one !== "iteration") })
          }
        />
        <Smoothing value={smoothing} onChange={(next) => go({ smoothing: next || undefined })} />
      </Group>
      {failed && <Failed thrown={failed.error} />}
      {runs.length === 0 ? (
        <Empty title="No runs chosen">Choose two or more runs to see them over each other.</Empty>
      ) : known.length === 0 && !failed ? (
        <Loading what="the runs" height={320} />
      ) : (
        <>
          {unplaced.length > 0 && <Unplaced runs={unplaced} axis={axis} />}
          {(placed.length > 0 || known.length === 0) && (
            <Chart known={placed} metric={metric} axis={axis} smoothing={smoothing} />
          )}
        </>
      )}
    </Page>
  );
}

/** Tells why runs are not drawn by an axis that counts from their first batch. */
function Unplaced({ runs, axis }: { runs: string[]; axis: Axis }) {
  return (
    <Text size="sm" role="note">
      Not drawn by {AXIS_LABELS[axis].toLowerCase()}: {runs.join(", ")}. Only the last{" "}
      {count(ITERATIONS_MAX)} iterations of a run are read, and this axis counts from the first.
      Choose the axis {AXIS_LABELS.iteration} or {AXIS_LABELS.time}.
    </Text>
  );
}

function Chart(props: {
  known: { run: string; iterations: Iterations; colour: number }[];
  metric: Metric;
  axis: Axis;
  smoothing: number;
}) {
  const { known, metric, axis, smoothing } = props;
  const format = FORMATS[metric];
  const { x, lines } = compared(
    known.map(({ iterations }) => iterations),
    { metric, axis, smoothing },
  );
  const xText = (place: number) => {
    if (axis === "elapsed") return span(place * 1000);
    if (axis === "time") return new Date(place * 1000).toISOString();
    return Number.isInteger(place) ? count(place) : "";
  };
  const table = () => ({
    columns: [AXIS_LABELS[axis], ...known.map(({ run }) => visible(run))],
    rows: x.map((place, at) => [
      xText(place),
      ...lines.map((values) => {
        const value = values[at];
        return value == null ? NONE : format(value);
      }),
    ]),
  });
  return (
    <Figure
      title={METRIC_LABELS[metric]}
      about={`By ${AXIS_LABELS[axis].toLowerCase()}, the last ${count(ITERATIONS_MAX)} iterations of each run.${
        smoothing > 0 ? ` Smoothed by ${percent(smoothing)}.` : ""
      }`}
      table={table}
    >
      {x.length === 0 ? (
        <Text size="sm" c="dimmed">
          Available after the first batch completes.
        </Text>
      ) : (
        <Plot
          x={x}
          {...(axis === "time" ? { xAs: "time" as const } : { formatX: xText })}
          xLabel={AXIS_LABELS[axis].toLowerCase()}
          height={360}
          format={format}
          gapless
          series={known.map(({ run, colour }, at) => ({
            label: visible(run),
            values: lines[at] ?? [],
            colour,
          }))}
        />
      )}
    </Figure>
  );
}

/** Finds runs by a part of their names among those that were active last. */
function RunsField({ runs, onChange }: { runs: string[]; onChange: (runs: string[]) => void }) {
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed.trim(), 300);
  const found = useQuery(runsQuery(present({ q: q || undefined })));
  const names = (found.data?.items ?? []).map(({ name }) => name);
  const searching = found.isPending || found.isPlaceholderData || q !== typed.trim();
  return (
    <MultiSelect
      size="xs"
      label="Runs"
      w={{ base: "100%", sm: 420 }}
      placeholder={runs.length < RUNS_MAX ? "Name of a run" : `At most ${RUNS_MAX}`}
      data={[...new Set([...runs, ...names])].map((value) => ({ value, label: visible(value) }))}
      value={runs}
      maxValues={RUNS_MAX}
      searchable
      hidePickedOptions
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={onChange}
      nothingFoundMessage={
        found.isError ? "The runs could not be read" : searching ? "Searching…" : "No matching runs"
      }
    />
  );
}

const SMOOTHING_MAX = 0.95;

function Smoothing({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  const [moved, setMoved] = useState(value);
  return (
    <Stack gap={4} w={180}>
      <Text size="xs" fw={500} id="smoothing">
        Smoothing: {percent(moved)}
      </Text>
      <Slider
        size="sm"
        min={0}
        max={SMOOTHING_MAX}
        step={0.05}
        label={percent}
        value={moved}
        onChange={setMoved}
        onChangeEnd={(end) => onChange(Math.round(end * 100) / 100)}
        thumbProps={{ "aria-labelledby": "smoothing" }}
      />
    </Stack>
  );
}
