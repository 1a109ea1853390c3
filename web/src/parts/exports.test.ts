import { expect, it } from "vitest";
import { csvCell, exported, valueAt } from "./exports";

it("quotes texts and disarms formulas, and leaves numbers alone", () => {
  expect(csvCell('say "hi", now')).toBe('"say ""hi"", now"');
  expect(csvCell("=HYPERLINK(1)")).toBe("'=HYPERLINK(1)");
  expect(csvCell("1;=1+1")).toBe('"1;\'=1+1"');
  expect(csvCell('a;"=1+1')).toBe('"a;""\'=1+1"');
  expect(csvCell("a\t@x")).toBe('"a\t\'@x"');
  expect(csvCell("a\n -1+1")).toBe('"a\n \'-1+1"');
  expect(csvCell(";;=1+1")).toBe('";;\'=1+1"');
  expect(csvCell("x - y = z")).toBe("x - y = z");
  expect(csvCell(-0.5)).toBe("-0.5");
  expect(csvCell("two\nlines")).toBe('"two\nlines"');
  expect(csvCell(null)).toBe("");
});

it("finds values by their paths", () => {
  const row = { batch: { counts: { scored: 3 }, tags: ["a"] } };
  expect(valueAt(row, "batch.counts.scored")).toBe(3);
  expect(valueAt(row, "batch.tags")).toBe('["a"]');
  expect(valueAt(row, "batch.none.scored")).toBeUndefined();
});

/** Pages of two rows; `asked` lists the cursors. */
function pages() {
  const asked: (number | undefined)[] = [];
  const read = async (after: number | undefined) => {
    asked.push(after);
    const at = after ?? 0;
    const items = [{ name: `row ${at}` }, { name: `row ${at + 1}` }];
    return { items, next: at < 4 ? at + 2 : null };
  };
  return { asked, read };
}

async function whole(texts: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const text of texts) all.push(text);
  return all;
}

it("writes all pages, one text each", async () => {
  const { asked, read } = pages();
  const texts = await whole(exported("csv", ["name"], read));
  expect(texts).toEqual([
    "name\r\n",
    "row 0\r\nrow 1\r\n",
    "row 2\r\nrow 3\r\n",
    "row 4\r\nrow 5\r\n",
  ]);
  expect(asked).toEqual([undefined, 2, 4]);
  const lines = await whole(exported("jsonl", [], pages().read));
  expect(lines[0]).toBe('{"name":"row 0"}\n{"name":"row 1"}\n');
});
