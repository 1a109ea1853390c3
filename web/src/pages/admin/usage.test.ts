import { expect, it } from "vitest";
import { byPool, costTable, daysUntil } from "./usage";

it("lists days across the end of a month", () => {
  expect(daysUntil("2026-03-01", 3)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
});

it("groups days by pool, highest cost first, with zero for days without batches", () => {
  const row = (day: string, pool: string, cost: number) => ({
    day,
    pool,
    requests: 10,
    worker_seconds: 2,
    cost,
  });
  const rows = [
    row("2026-03-01", "cpu", 2),
    row("2026-03-01", "gpu", 20),
    row("2026-02-27", "cpu", 3),
    row("2025-01-01", "cpu", 99),
  ];
  const [gpu, cpu] = byPool(rows, daysUntil("2026-03-01", 3));
  expect(gpu).toMatchObject({ pool: "gpu", cost: 20, requests: 10, costs: [0, 0, 20] });
  expect(cpu).toMatchObject({ pool: "cpu", cost: 5, workerSeconds: 4, costs: [3, 0, 2] });
});

it("keeps costs unrounded for files, and shows them to two decimals", () => {
  const pool = {
    pool: "gpu",
    requests: 1,
    workerSeconds: 1,
    cost: 0,
    costs: [0.1234567, 123456.789],
  };
  const { columns, rows, format } = costTable([pool], ["2026-02-28", "2026-03-01"]);
  expect(columns).toEqual(["Day", "Cost of gpu"]);
  expect(rows).toEqual([
    ["2026-03-01", 123456.789],
    ["2026-02-28", 0.1234567],
  ]);
  expect(format?.(123456.789)).toBe("123,456.79");
});
