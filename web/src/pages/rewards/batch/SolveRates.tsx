// The solve rate of one prompt over the iterations of its run.

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../../api/client";
import { Figure } from "../../../parts/Figure";
import { count, percent, reward } from "../../../parts/format";
import { Plot } from "../../../parts/Plot";
import { Answer } from "../../../parts/states";
import { solveRatesQuery } from "../queries";

export function SolveRates({ run, group }: { run: string; group: string }) {
  const rates = useQuery(solveRatesQuery(run, group));
  return (
    <Answer query={rates} what="the solve rates" height={240}>
      {(answer) => <Chart rates={answer} />}
    </Answer>
  );
}

function Chart({ rates }: { rates: Schemas["SolveRates"] }) {
  const { iteration, samples, passed, mean, pass_reward, earlier } = rates;
  const values = passed.map((one, at) => one / (samples[at] ?? 1));
  const name = (at: number) => count(iteration[at]);
  const x = iteration.map((_, at) => at);
  const table = () => ({
    columns: ["Iteration", "Samples", "Passed", "Solve rate", "Mean reward"],
    rows: x.map((at) => [
      name(at),
      count(samples[at]),
      count(passed[at]),
      percent(values[at]),
      reward(mean[at]),
    ]),
  });
  return (
    <Figure
      title="Solve rate of this prompt"
      about={`Share of its samples with a reward of at least ${reward(pass_reward)}, by iteration.${
        earlier ? " Earlier iterations are not shown." : ""
      }`}
      table={table}
    >
      {x.length === 0 ? (
        <Text size="sm" c="dimmed">
          Available soon after the end of the batch.
        </Text>
      ) : (
        <Plot
          x={x}
          xLabel="iteration"
          formatX={(at) => (Number.isInteger(at) ? name(at) : "")}
          series={[{ label: "solve rate", values }]}
          format={percent}
          yMin={0}
          yMax={1}
        />
      )}
    </Figure>
  );
}
