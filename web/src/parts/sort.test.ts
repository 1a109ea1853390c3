import { expect, it } from "vitest";
import { compare } from "./sort";
import { columnId, sortingOf, sortSearch } from "./sortSearch";

it("names columns in the URL", () => {
  expect(columnId("Mean reward")).toBe("mean-reward");
  expect(sortSearch({ sort: "-mean-reward" })).toEqual({ sort: "-mean-reward" });
  for (const sort of ["", "--a", "a b", "<b>", "x".repeat(60), 7.5, ["a"]]) {
    expect(sortSearch({ sort })).toEqual({});
  }
  expect(sortingOf("-mean-reward")).toEqual([{ id: "mean-reward", desc: true }]);
  expect(sortingOf(undefined)).toEqual([]);
});

it("sorts numbers by value, and texts by the numbers in them", () => {
  expect([10, 9, -1.5].sort(compare)).toEqual([-1.5, 9, 10]);
  expect(["sample-10", "Sample-9", "sample-1"].sort(compare)).toEqual([
    "sample-1",
    "Sample-9",
    "sample-10",
  ]);
  expect(["2026-11-23T10:00:00Z", "2026-09-01T10:00:00Z"].sort(compare)[0]).toContain("-09-");
  expect(["b", 1].sort(compare)).toEqual([1, "b"]);
});
