// How often prompts are solved, by iteration: pass@k and the prompts by solve rate.

import { Figure } from "../../../parts/Figure";
import { count, NONE, percent } from "../../../parts/format";
import { Plot } from "../../../parts/Plot";
import { type Common, rowsOf } from "./common";
import { passSeries } from "./drift";
import { heatMapOf, type Iterations } from "./fold";
import { HeatMap } from "./HeatMap";

type Props = { iterations: Iterations; common: Common; name: (at: number) => string };

/** Nothing where no batch has groups. */
export function Solved({ iterations, common, name }: Props) {
  const series = passSeries(iterations.pass_at);
  if (series.length === 0) return null;
  return (
    <>
      <Figure
        title="pass@k"
        about="Chance that at least one of k samples of a prompt passes, as a mean over the prompts with at least k samples. A reward of at least 1 is a pass."
        table={rowsOf(common, series, percent)}
      >
        <Plot {...common} series={series} format={percent} yMin={0} yMax={1} />
      </Figure>
      <SolveRates iterations={iterations} common={common} name={name} />
    </>
  );
}

function SolveRates({ iterations, common, name }: Props) {
  const rates = iterations.solve_rates;
  const bins = rates.find((one) => one != null)?.counts.length ?? 0;
  const heat = bins > 0 ? heatMapOf(rates, bins) : null;
  if (!heat) return null;
  const table = () => ({
    columns: [
      "Iteration",
      ...Array.from({ length: bins }, (_, bin) => `from ${percent(bin / bins)}`),
    ],
    rows: rates.map((one, at) => [
      name(at),
      ...Array.from({ length: bins }, (_, bin) => (one ? count(one.counts[bin]) : NONE)),
    ]),
  });
  return (
    <Figure
      title="Prompts by solve rate"
      about="The solve rate is the part of a prompt's samples that passed."
      table={table}
    >
      <HeatMap
        heat={heat}
        label="Prompts by solve rate and iteration"
        name={(at) => `iteration ${name(at)}`}
        tells="prompts have a solve rate"
        format={percent}
        {...(common.onPick ? { onPick: common.onPick } : {})}
      />
    </Figure>
  );
}
