import { parquetReadObjects } from "hyparquet";
import { expect, it } from "vitest";
import { csvCell, EXPORT_ROWS_MAX, exported, fileOf, pageOf, valueAt } from "./exports";

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
  const line = JSON.stringify(row);
  expect(valueAt(row, "batch.counts.scored", line)).toBe(3);
  expect(valueAt(row, "batch.tags", line)).toBe('["a"]');
  expect(valueAt(row, "batch.none.scored", line)).toBeUndefined();
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

async function whole(parts: AsyncIterable<BlobPart>): Promise<BlobPart[]> {
  const all: BlobPart[] = [];
  for await (const part of parts) all.push(part);
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

it("keeps the digits of numbers as the server wrote them", async () => {
  const label = '{"id":9007199254740993,"share":0.10}';
  const row = `{"iteration":9007199254740993,"label":${label}}`;
  const read = async () => pageOf<string>(`{"items":[ ${row.replace(":", " :\n")} ],"next":null}`);
  expect(await whole(exported("jsonl", [], read))).toEqual([`${row}\n`]);
  const quoted = label.replaceAll('"', '""');
  expect(await whole(exported("csv", ["label"], read))).toEqual(["label\r\n", `"${quoted}"\r\n`]);
  const [file] = await rowsOf(await whole(exported("parquet", ["label"], read)));
  expect(file).toEqual({ label });
});

it("tells that a file has not all rows", async () => {
  const cutAt = async (rows: number) => {
    let cut = false;
    const half = Array.from({ length: rows / 2 }, () => ({ name: "row" }));
    const read = async (after: number | undefined) => ({
      items: half,
      next: after === undefined ? 1 : rows > EXPORT_ROWS_MAX ? 2 : null,
    });
    await whole(
      exported("csv", ["name"], read, () => {
        cut = true;
      }),
    );
    return cut;
  };
  expect(await cutAt(EXPORT_ROWS_MAX)).toBe(false);
  expect(await cutAt(EXPORT_ROWS_MAX + 2)).toBe(true);
});

/** What a reader finds in a Parquet file. */
async function rowsOf(file: BlobPart[]): Promise<Record<string, unknown>[]> {
  const bytes = await new Blob(file).arrayBuffer();
  return parquetReadObjects({ file: bytes });
}

it("writes Parquet with a type a column", async () => {
  const columns = ["run", "batch.late", "mean", "tags", "none"];
  const items = [
    { run: "ü", batch: { late: true }, mean: 0.5, tags: ["a"] },
    { run: "=b", batch: { late: null }, mean: 2, tags: [] },
    { batch: {}, mean: null },
  ];
  const file = await whole(exported("parquet", columns, async () => ({ items })));
  expect(file).toHaveLength(1);
  expect(await rowsOf(file)).toEqual([
    { run: "ü", "batch.late": true, mean: 0.5, tags: '["a"]', none: null },
    { run: "=b", "batch.late": null, mean: 2, tags: "[]", none: null },
    { run: null, "batch.late": null, mean: null, tags: null, none: null },
  ]);
  const all = await rowsOf(await whole(exported("parquet", ["name"], pages().read)));
  expect(all.map(({ name }) => name)).toEqual([0, 1, 2, 3, 4, 5].map((at) => `row ${at}`));
  const empty = await whole(exported("parquet", ["name"], async () => ({ items: [] })));
  expect(await rowsOf(empty)).toEqual([]);
});

it("writes the rows of a figure in each format", async () => {
  const rows = [
    [1, "0.5"],
    [2, "–"],
  ];
  const columns = ["iteration", "mean"];
  expect(await whole(fileOf("csv", columns, rows))).toEqual(["iteration,mean\r\n1,0.5\r\n2,–\r\n"]);
  expect(await whole(fileOf("jsonl", columns, rows))).toEqual([
    '{"iteration":1,"mean":"0.5"}\n{"iteration":2,"mean":"–"}\n',
  ]);
  expect(await rowsOf(await whole(fileOf("parquet", columns, rows)))).toEqual([
    { iteration: 1, mean: "0.5" },
    { iteration: 2, mean: "–" },
  ]);
});
