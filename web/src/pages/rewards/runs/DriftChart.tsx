// Drift: how far verdicts and reward are from those of a baseline, its first iterations or others.

import { Group, NativeSelect } from "@mantine/core";
import { Figure } from "../../../parts/Figure";
import { percent, signed } from "../../../parts/format";
import { Plot } from "../../../parts/Plot";
import { TextFilter } from "../../../parts/TextFilter";
import { type Common, rowsOf } from "./common";
import { type Baseline, driftOf, FIRSTS } from "./drift";
import type { Iterations } from "./fold";

export function DriftChart(props: {
  iterations: Iterations;
  common: Common;
  baseline: Baseline;
  onBaseline: (baseline: Baseline) => void;
}) {
  const { iterations, common, baseline, onBaseline } = props;
  const drift = driftOf(iterations, baseline);
  const verdicts = [{ label: "verdicts", values: drift.verdicts }];
  const reward = [{ label: "reward", values: drift.reward, colour: 1 }];
  return (
    <>
      <Figure
        title="Drift of verdicts"
        about="Share of requests whose verdict differs from the mix of the baseline: 0% is the same mix, 100% has no verdict in common."
        table={rowsOf(common, verdicts, percent)}
      >
        <BaselineField iterations={iterations} baseline={baseline} onBaseline={onBaseline} />
        <Plot {...common} series={verdicts} format={percent} yMin={0} yMax={1} />
      </Figure>
      <Figure
        title="Drift of the reward"
        about="Mean reward minus the mean reward of the baseline."
        table={rowsOf(common, reward, signed)}
      >
        <Plot {...common} series={reward} format={signed} />
      </Figure>
    </>
  );
}

const CHOSEN = "chosen";

function BaselineField(props: {
  iterations: Iterations;
  baseline: Baseline;
  onBaseline: (baseline: Baseline) => void;
}) {
  const { iterations, baseline, onBaseline } = props;
  const chosen = "from" in baseline ? baseline : undefined;
  const choose = (value: string) => {
    if (value !== CHOSEN) return onBaseline({ first: Number(value) });
    const known = iterations.iteration;
    // The latest tenth, to begin with: after a change these are what the next ones are held against.
    const from = known[Math.floor(known.length * 0.9)] ?? 0;
    onBaseline({ from, to: Math.max(from, known.at(-1) ?? 0) });
  };
  const bound = (which: "from" | "to", label: string) =>
    chosen && (
      <TextFilter
        label={label}
        narrow
        value={String(chosen[which])}
        meaning={(text) => (text === undefined ? text : String(Number(text)))}
        onChange={(text) => {
          if (/^\d{1,15}$/.test(text ?? "")) onBaseline({ ...chosen, [which]: Number(text) });
        }}
      />
    );
  return (
    <Group gap="xs" align="end">
      <NativeSelect
        size="xs"
        label="Baseline"
        data={[
          ...FIRSTS.map((first) => ({
            value: String(first),
            label: `First ${first} shown iterations`,
          })),
          { value: CHOSEN, label: "Chosen iterations" },
        ]}
        value={chosen ? CHOSEN : String("first" in baseline ? baseline.first : "")}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
      {bound("from", "From iteration")}
      {bound("to", "To iteration")}
    </Group>
  );
}
