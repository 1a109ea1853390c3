// Drift: how far verdicts and reward are from those of the first iterations.

import { Group, NativeSelect, Text } from "@mantine/core";
import { Figure } from "../../../parts/Figure";
import { percent, signed } from "../../../parts/format";
import { Plot } from "../../../parts/Plot";
import { type Common, rowsOf } from "./common";
import { BASELINES, driftOf } from "./drift";
import type { Iterations } from "./fold";

export function DriftChart(props: {
  iterations: Iterations;
  common: Common;
  baseline: number;
  onBaseline: (baseline: number) => void;
}) {
  const { iterations, common, baseline, onBaseline } = props;
  const drift = driftOf(iterations, baseline);
  const verdicts = [{ label: "verdicts", values: drift.verdicts }];
  const reward = [{ label: "reward", values: drift.reward, colour: 1 }];
  return (
    <>
      <Figure
        title="Drift of verdicts"
        about="Share of requests whose verdict differs from the mix of the first iterations: 0% is the same mix, 100% has no verdict in common."
        table={rowsOf(common, verdicts, percent)}
      >
        <Group gap="xs">
          <Text size="sm" id="baseline">
            Baseline
          </Text>
          <NativeSelect
            size="xs"
            aria-labelledby="baseline"
            data={BASELINES.map((first) => ({
              value: String(first),
              label: `First ${first} shown iterations`,
            }))}
            value={String(baseline)}
            onChange={({ currentTarget }) => onBaseline(Number(currentTarget.value))}
          />
        </Group>
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
