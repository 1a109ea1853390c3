import { expect, it } from "vitest";
import { Grid, VIRTUAL_FROM } from "./Grid";
import { markup } from "./markup";

const columns = [
  {
    title: "Name",
    value: (row: { name: string }) => row.name,
    cell: (row: { name: string }) => row.name,
  },
  { title: "Actions", cell: () => "act" },
];
const rowKey = (row: { name: string }) => row.name;
const rows = (length: number) => Array.from({ length }, (_, at) => ({ name: `row ${at}` }));

it("sorts by buttons in the heads of columns with values, and tells the order", () => {
  const heads = { direction: () => "descending" as const, toggle: () => undefined };
  const html = markup(
    <Grid caption="Rows" columns={columns} rows={rows(2)} rowKey={rowKey} heads={heads} />,
  );
  expect(html.match(/<button/g)).toHaveLength(1);
  expect(html.match(/aria-sort="descending"/g)).toHaveLength(1);
});

it("keeps the rows of a long list out of the document, and tells their number", () => {
  const long = rows(VIRTUAL_FROM + 1);
  const html = markup(<Grid caption="Rows" columns={columns} rows={long} rowKey={rowKey} />);
  expect(html).toContain(`aria-rowcount="${VIRTUAL_FROM + 2}"`);
  expect(html).not.toContain("row 200");
});
