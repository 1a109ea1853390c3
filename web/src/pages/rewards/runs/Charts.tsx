// Charts of a run, one point per iteration. A click opens the batch.

import { Text } from "@mantine/core";
import { Figure } from "../../../parts/Figure";
import { count, percent, reward, span } from "../../../parts/format";
import type { Mark } from "../../../parts/marks";
import { Plot, type PlotSeries } from "../../../parts/Plot";
import { coloursOf } from "./colours";
import { type Common, rowsOf } from "./common";
import { DriftChart } from "./DriftChart";
import { type Baseline, componentSeries } from "./drift";
import {
  type HeatMapData,
  hasSpread,
  heatMapOf,
  type Iterations,
  type NamedSeries,
  spreadOf,
  stacked,
} from "./fold";
import { HeatMap } from "./HeatMap";
import { Solved } from "./Solved";

const BINS = 20;
const NAMES_MAX = 8;

export function Charts(props: {
  iterations: Iterations;
  /** Promotions of the plugin. */
  marks: readonly Mark[];
  /** The iterations with which the others are compared. */
  baseline: Baseline;
  onBaseline: (baseline: Baseline) => void;
  onPick: (at: number) => void;
}) {
  const { iterations, marks, baseline, onBaseline, onPick } = props;
  const x = iterations.iteration.map((_, at) => at);
  const name = (at: number) => count(iterations.iteration[at]);
  const common: Common = {
    // Indexes instead of iterations: a resumed run may repeat iteration numbers.
    x,
    xLabel: "iteration",
    untitled: true,
    sync: "run",
    formatX: (at) => (Number.isInteger(at) ? name(at) : ""),
    onPick,
    marks,
  };
  const heat = heatMapOf(iterations.histogram, BINS);
  return (
    <div className="charts">
      <Rewards iterations={iterations} common={common} />
      {heat && hasSpread(heat) && <Histogram heat={heat} name={name} onPick={onPick} />}
      <Stacked
        title="Verdicts"
        about="Share of requests by verdict."
        series={stacked(iterations.verdicts, NAMES_MAX, "shares")}
        common={common}
        format={percent}
        yMax={1}
      />
      <ZeroVariance iterations={iterations} common={common} />
      <Solved iterations={iterations} common={common} name={name} />
      <Components iterations={iterations} common={common} />
      <DriftChart
        iterations={iterations}
        common={common}
        baseline={baseline}
        onBaseline={onBaseline}
      />
      <Stacked
        title="Worker time"
        about="Busy time of workers by pool."
        series={stacked(iterations.worker_seconds, NAMES_MAX, "numbers")}
        common={common}
        format={(seconds) => span(seconds * 1000)}
      />
      <ExtraDelay iterations={iterations} common={common} />
    </div>
  );
}

function Rewards({ iterations, common }: { iterations: Iterations; common: Common }) {
  const { upper, lower } = spreadOf(iterations);
  const series: PlotSeries[] = [
    { label: "mean", values: iterations.mean },
    { label: "mean + std", values: upper, as: "edge" },
    { label: "mean − std", values: lower, as: "edge" },
    { label: "max", values: iterations.max, colour: "grey", dashed: true },
    { label: "min", values: iterations.min, colour: "grey", dashed: true },
  ];
  return (
    <Figure
      title="Reward"
      about="Mean with ± 1 std as a band, min and max."
      table={rowsOf(common, series, reward)}
    >
      <Plot {...common} series={series} bands={[{ upper: 1, lower: 2 }]} format={reward} />
    </Figure>
  );
}

function Histogram(props: {
  heat: HeatMapData;
  name: (at: number) => string;
  onPick: (at: number) => void;
}) {
  const { heat, name, onPick } = props;
  const step = (heat.to - heat.from) / heat.bins;
  const table = () => ({
    columns: [
      "Iteration",
      ...Array.from({ length: heat.bins }, (_, bin) => `from ${reward(heat.from + bin * step)}`),
    ],
    rows: heat.columns.map((shares, at) => [
      name(at),
      ...Array.from({ length: heat.bins }, (_, bin) => percent(shares?.[bin])),
    ]),
  });
  return (
    <Figure title="Rewards by iteration" about="Share of requests by reward." table={table}>
      <HeatMap
        heat={heat}
        label="Histogram of rewards by iteration"
        name={(at) => `iteration ${name(at)}`}
        tells="requests have a reward"
        format={reward}
        onPick={onPick}
      />
    </Figure>
  );
}

function Stacked(props: {
  title: string;
  about: string;
  series: NamedSeries[];
  common: Common;
  format: (value: number) => string;
  yMax?: number;
}) {
  const { title, about, series, common, format, yMax } = props;
  const colours = coloursOf(series.map(({ label }) => label));
  return (
    <Figure title={title} about={about} table={rowsOf(common, series, format)}>
      {series.length === 0 ? (
        <Text size="sm" c="dimmed">
          Available after the first batch completes.
        </Text>
      ) : (
        <Plot
          {...common}
          series={series.map((one, at) => ({ ...one, colour: colours[at] ?? 0, filled: at === 0 }))}
          stacked
          format={format}
          {...(yMax === undefined ? {} : { yMax })}
        />
      )}
    </Figure>
  );
}

function ZeroVariance({ iterations, common }: { iterations: Iterations; common: Common }) {
  const right = iterations.all_right_share;
  const wrong = iterations.zero_variance_share.map((share, at) => {
    const known = right[at];
    return share == null || known == null ? null : share - known;
  });
  const series: PlotSeries[] = [{ label: "zero variance", values: iterations.zero_variance_share }];
  if (right.some((share) => share != null)) {
    series.push({ label: "all right", values: right }, { label: "all wrong", values: wrong });
  }
  return (
    <Figure
      title="Groups with zero variance"
      about="Share of complete groups whose rewards are all equal: all above zero, or all zero or less."
      table={rowsOf(common, series, percent)}
    >
      <Plot {...common} series={series} format={percent} yMax={1} />
    </Figure>
  );
}

/** Nothing where rewards have no components. */
function Components({ iterations, common }: { iterations: Iterations; common: Common }) {
  const series = componentSeries(iterations.components, NAMES_MAX);
  if (series.length === 0) return null;
  return (
    <Figure
      title="Components of the reward"
      about="Mean of each component over the requests that have it."
      table={rowsOf(common, series, reward)}
    >
      <Plot {...common} series={series} format={reward} />
    </Figure>
  );
}

function ExtraDelay({ iterations, common }: { iterations: Iterations; common: Common }) {
  const tolerance = iterations.max_extra_delay_ms;
  const series: PlotSeries[] = [{ label: "extra delay", values: iterations.extra_delay_ms }];
  if (tolerance.some((ms) => ms != null)) {
    series.push({ label: "delay tolerance", values: tolerance, dashed: true });
  }
  return (
    <Figure
      title="Extra delay"
      about="How much later than its ideal end a batch ended."
      table={rowsOf(common, series, span)}
    >
      <Plot {...common} series={series} format={span} />
    </Figure>
  );
}
