import { expect, test } from "vitest";
import { comparedOf, filterOf, orderOf, samplesSearch, typedNumber } from "./search";

test("the URL holds known filters alone", () => {
  const search = samplesSearch({
    run: 7,
    kind: "scored",
    group_rewards: "nonsense",
    reward_min: 0.5,
    reward_max: "1",
    sort: "-response_chars",
    q: "let me check",
    other: "x",
  });
  expect(search).toEqual({
    run: "7",
    kind: "scored",
    reward_min: 0.5,
    sort: "-response_chars",
    q: "let me check",
  });
  expect(Object.keys(filterOf({ ...search, sample: "b.1", rows: 500 })).sort()).toEqual([
    "kind",
    "q",
    "reward_min",
  ]);
  expect(samplesSearch({ batch: "b", sort: "no_column" })).toEqual({ batch: "b" });
});

test("an order is a column and a direction", () => {
  expect(orderOf("-reward")).toEqual({ column: "reward", descending: true });
  expect(orderOf("verdict")).toEqual({ column: "verdict", descending: false });
  expect(orderOf("-")).toBeUndefined();
  expect(orderOf(undefined)).toBeUndefined();
});

test("a bound is a number or nothing", () => {
  expect([
    typedNumber("0,5"),
    typedNumber("-1e3"),
    typedNumber("x"),
    typedNumber(undefined),
  ]).toEqual([0.5, -1000, undefined, undefined]);
});

test("a comma separates thousands as in the tables, or else decimals", () => {
  const read = (...texts: string[]) => texts.map(typedNumber);
  expect(read("1,000", "-12,345", "1,234,567.5")).toEqual([1_000, -12_345, 1_234_567.5]);
  expect(read("0,500", "1,5", "1,0000")).toEqual([0.5, 1.5, 1]);
  expect(read("1,000,00", "abc", "1 000", "-")).toEqual(Array(4).fill(undefined));
});

test("a group's name may have a slash", () => {
  expect(comparedOf("0190-ab/prompt/7")).toEqual({ batch: "0190-ab", group: "prompt/7" });
});
