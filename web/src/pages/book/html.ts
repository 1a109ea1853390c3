// Pages of the book as HTML. They are files of this repository, built into the dashboard; no text of a tenant comes here.

import MarkdownIt, { type Token } from "markdown-it";
import { addressOf, type BookPage, PAGES, resolved } from "./contents";

const markdown = new MarkdownIt({ html: false, linkify: false });

/** What the runner of the book's commands reads. */
const COMMENT = /^ *<!-- [a-z ]+: (?!cli|rest)[\s\S]*?-->\n/gm;
const GENERATED: Record<string, string> = {
  cli: "`assay --help` prints it, and `assay VERB --help` the help of a verb.",
  rest: "This server's document is [/openapi.json](/openapi.json).",
};

/** The text below the title of the page, as HTML. */
export function htmlOf(page: BookPage, text: string): string {
  const shown = text
    .replace(/<!-- generated: (cli|rest) -->/g, (_, what: string) => GENERATED[what] ?? "")
    .replace(COMMENT, "")
    .replace(/^# .*\n/, "");
  const tokens = markdown.parse(shown, {});
  for (const [at, token] of tokens.entries()) {
    if (token.type === "heading_open") token.attrSet("id", anchorOf(tokens[at + 1]?.content ?? ""));
    // The words after a block's language are for the runner.
    if (token.type === "fence") token.info = token.info.split(" ")[0] ?? "";
    if (token.children) token.children = linked(token.children, page);
  }
  return markdown.renderer.render(tokens, markdown.options, {});
}

/** Links to pages lead to them, and those to other hosts leave the dashboard; any other is its text. */
function linked(tokens: readonly Token[], page: BookPage): Token[] {
  let isLink = true;
  return tokens.flatMap((token) => {
    if (token.type === "image") return [];
    if (token.type === "link_close") return isLink ? [token] : [];
    if (token.type !== "link_open") return [token];
    const to = addressFrom(page, String(token.attrGet("href") ?? ""));
    isLink = to !== undefined;
    if (to === undefined) return [];
    token.attrSet("href", to);
    if (/^https?:/.test(to)) {
      token.attrSet("target", "_blank");
      token.attrSet("rel", "noreferrer");
    }
    return [token];
  });
}

/** Where a link of a page leads in the dashboard; undefined for a file that is no page. */
export function addressFrom(page: BookPage, to: string): string | undefined {
  if (/^https?:/.test(to) || to.startsWith("#") || to === "/openapi.json") return to;
  const [path = "", anchor] = to.split("#");
  const file = resolved(page.file, path);
  const found = PAGES.find((one) => one.file === file);
  // What programs write has no places here.
  const hasPlaces = found && !/^reference\/(cli|rest)$/.test(found.path);
  return found && addressOf(found) + (anchor && hasPlaces ? `#${anchor}` : "");
}

/** The anchor of a heading, as other readers of Markdown make it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}
