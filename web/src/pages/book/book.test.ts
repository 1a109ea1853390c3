import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type BookPage, PAGES, pageAt, textOf } from "./contents";
import { addressFrom, anchorOf, htmlOf } from "./html";

const HTML = await Promise.all(
  PAGES.map(async (page) => ({ page, html: htmlOf(page, await textOf(page)) })),
);

it("has every page of the table of contents, each at an address of its own", () => {
  expect(PAGES.length).toBeGreaterThan(50);
  expect(new Set(PAGES.map(({ path }) => path)).size).toBe(PAGES.length);
  expect(pageAt("")?.title).toBe("What it is");
  expect(pageAt("plugins/math")?.file).toBe("plugins/math/README.md");
  expect(pageAt("trainers")?.file).toBe("docs/book/src/trainers/index.md");
});

it("shows no comment and no word for the runner of commands", () => {
  for (const { page, html } of HTML) {
    expect(html, page.file).not.toContain("&lt;!--");
    expect(html, page.file).not.toMatch(/class="language-[a-z]*[ =]/);
  }
});

it("leads from page to page, to headings that are there", () => {
  const broken: string[] = [];
  let links = 0;
  for (const { page, html } of HTML) {
    for (const [, to = ""] of html.matchAll(/href="([^"]+)"/g)) {
      const [address = "", anchor] = to.split("#");
      if (/^https?:|^\/openapi/.test(to)) continue;
      links += 1;
      const there = address ? pageAt(address.replace(/^\/book\/?/, "")) : page;
      const target = HTML.find((one) => one.page === there)?.html;
      if (!target || (anchor && !target.includes(`id="${anchor}"`))) {
        broken.push(`${page.file}: ${to}`);
      }
    }
  }
  expect(links).toBeGreaterThan(50);
  expect(broken).toEqual([]);
});

it("makes a file that is no page its text", () => {
  const page = pageAt("concepts") as BookPage;
  expect(addressFrom(page, "../../../LICENSE")).toBe(undefined);
  expect(addressFrom(page, "plugins/rust.md#the-loop")).toBe("/book/plugins/rust#the-loop");
  expect(anchorOf("When Assay's `run_code` fails")).toBe("when-assays-run_code-fails");
});

it("is led to from pages that are there", () => {
  const sources = join(import.meta.dirname, "../..");
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".tsx"),
  );
  const named = files.flatMap((file) =>
    [...readFileSync(join(sources, file), "utf8").matchAll(/<BookLink to="([^"]+)"/g)].map(
      ([, path = ""]) => path,
    ),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !pageAt(path))).toEqual([]);
});
