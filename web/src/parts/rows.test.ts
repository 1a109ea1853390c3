import { expect, it } from "vitest";
import { readRows, rowsSearch } from "./rows";

/** A list of numbers from 0 on, whose cursor is the next number. */
function list(length: number) {
  const limits: number[] = [];
  const read = async (after: number | undefined, limit: number) => {
    limits.push(limit);
    const from = after ?? 0;
    const items = Array.from({ length: Math.min(limit, length - from) }, (_, at) => from + at);
    const next = from + items.length < length ? from + items.length : null;
    return { items, next };
  };
  return { read, limits };
}

it("reads a page by calls of at most 500 rows", async () => {
  const { read, limits } = list(5_000);
  const { items, next } = await readRows(read, 10, 1_200);
  expect(items).toHaveLength(1_200);
  expect(items[0]).toBe(10);
  expect(next).toBe(1_210);
  expect(limits).toEqual([500, 500, 200]);
});

it("ends with the list", async () => {
  const { read, limits } = list(600);
  const { items, next } = await readRows(read, undefined, 2_500);
  expect(items).toHaveLength(600);
  expect(next).toBeUndefined();
  expect(limits).toEqual([500, 500]);
});

it("reads 50 rows by default, and takes no other numbers from the URL than those offered", async () => {
  expect((await readRows(list(60).read, undefined)).items).toHaveLength(50);
  expect(rowsSearch({ rows: 500 })).toEqual({ rows: 500 });
  for (const rows of [50, 7, 1e9, "500"]) expect(rowsSearch({ rows })).toEqual({});
});
