// The pages of the book, from its table of contents. Their texts are files of the repository, each loaded when it is read.

import summary from "../../../../docs/book/src/SUMMARY.md?raw";

const ROOT = "../../../../";
const BOOK = "docs/book/src/";

/** Every file that may be a page; the table of contents says which are. */
const FILES = import.meta.glob<string>(
  [
    "../../../../docs/book/src/**/*.md",
    "!../../../../docs/book/src/SUMMARY.md",
    "../../../../docs/*.md",
    "../../../../docs/{dashboard,gpu}/README.md",
    "../../../../plugins/*/README.md",
    "../../../../sdk/*/README.md",
    "../../../../{ARCHITECTURE,GLOSSARY}.md",
  ],
  { query: "?raw", import: "default" },
);

export interface BookPage {
  title: string;
  /** Path below `/book/`. */
  path: string;
  /** Path in the repository. */
  file: string;
  /** Depth in the table of contents, from 0. */
  depth: number;
}

export interface Part {
  /** Undefined for the pages before the first title. */
  title: string | undefined;
  pages: BookPage[];
}

export const PARTS: readonly Part[] = partsOf(summary);
export const PAGES: readonly BookPage[] = PARTS.flatMap(({ pages }) => pages);

function partsOf(text: string): Part[] {
  const parts: Part[] = [{ title: undefined, pages: [] }];
  // Its first line is the book's own title.
  for (const line of text.split("\n").slice(1)) {
    const title = /^# (.+)$/.exec(line)?.[1];
    if (title) parts.push({ title, pages: [] });
    const entry = /^( *)(?:- )?\[(.+)\]\((.+)\)$/.exec(line);
    if (!entry) continue;
    const [, indent = "", name = "", to = ""] = entry;
    const file = resolved(`${BOOK}SUMMARY.md`, to);
    const page = { title: name, path: pathOf(file), file, depth: indent.length / 2 };
    parts.at(-1)?.pages.push(page);
  }
  return parts;
}

/** `docs/book/src/trainers/index.md` is `trainers`, `plugins/math/README.md` is `plugins/math`. */
function pathOf(file: string): string {
  const name = file.startsWith(BOOK) ? file.slice(BOOK.length) : file;
  return name
    .replace(/\.md$/, "")
    .replace(/(^|\/)(index|README)$/, "")
    .toLowerCase();
}

/** The file that a relative link in a file leads to, as paths of the repository. */
export function resolved(from: string, to: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of to.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

export function pageAt(path: string): BookPage | undefined {
  return PAGES.find((page) => page.path === path);
}

export function addressOf(page: BookPage): string {
  return page.path ? `/book/${page.path}` : "/book";
}

export async function textOf(page: BookPage): Promise<string> {
  const load = FILES[ROOT + page.file];
  if (!load) throw new Error(`The page ${page.file} is not in this dashboard.`);
  return load();
}
