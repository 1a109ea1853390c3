// Totals of a simulation and of the actual batches.

import type { Schemas } from "../../api/client";

export function totals({ batches, stages, tolerance_ms }: Schemas["Simulation"]) {
  const most = (values: number[]) => (values.length > 0 ? Math.max(...values) : null);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  return {
    late: batches.filter(({ late }) => late).length,
    lateReally: batches.filter((batch) => batch.actual_extra_delay_ms > tolerance_ms).length,
    worst: most(batches.map((batch) => batch.extra_delay_ms)),
    worstReally: most(batches.map((batch) => batch.actual_extra_delay_ms)),
    workers: sum(stages.map((stage) => stage.worker_seconds)),
    busyReally: sum(stages.map((stage) => stage.actual_busy_seconds)),
    cost: sum(stages.map(({ cost }) => cost)),
  };
}
