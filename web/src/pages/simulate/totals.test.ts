import { expect, it } from "vitest";
import { totals } from "./totals";

it("sums simulated and actual values", () => {
  const batch = (late: boolean, d: number, really: number) => ({
    id: "b",
    iteration: 1,
    requests: 8,
    earliest_end_ms: 1_000,
    end_ms: 1_000 + d,
    extra_delay_ms: d,
    late,
    actual_end_ms: 1_000 + really,
    actual_extra_delay_ms: really,
  });
  const stage = {
    stage: "score",
    pool: "cpu",
    worker_seconds: 12,
    busy_seconds: 8,
    starting_seconds: 1,
    cost: 24,
    workers_peak: 3,
    starts: 3,
    actual_busy_seconds: 9,
    curve: [],
  };
  const found = totals({
    policy: "assay",
    tolerance_ms: 500,
    batches_replayed: 5,
    requests_replayed: 40,
    own_history: false,
    simulated_in_ms: 3,
    batches: [batch(false, 100, 700), batch(true, 900, 20)],
    stages: [stage, { ...stage, stage: "run", cost: 6 }],
  });
  expect(found).toEqual({
    late: 1,
    lateReally: 1,
    worst: 900,
    worstReally: 700,
    workers: 24,
    busyReally: 18,
    cost: 30,
  });
});
