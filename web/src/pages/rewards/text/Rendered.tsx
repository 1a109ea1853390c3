// A text of strangers as Markdown with formulas and code. Tokens become React elements of a fixed set: no
// HTML of the text, no link, no image. Its length and its number of elements are bounded.

import { Text } from "@mantine/core";
import { createElement, type ReactNode, useMemo } from "react";
import type { ExtractedAnswer } from "./answer";
import { Formula } from "./Formula";
import { parse, type Token } from "./markdown";

export const RENDERED_MAX = 64_000;
const TOKENS_MAX = 20_000;
const FORMULAS_MAX = 1_000;

/** Elements by the token that opens them. Headings are paragraphs, because the page has headings of its own. */
const ELEMENTS: Record<string, string> = {
  paragraph_open: "p",
  heading_open: "p",
  bullet_list_open: "ul",
  ordered_list_open: "ol",
  list_item_open: "li",
  blockquote_open: "blockquote",
  table_open: "table",
  thead_open: "thead",
  tbody_open: "tbody",
  tr_open: "tr",
  th_open: "th",
  td_open: "td",
  em_open: "em",
  strong_open: "strong",
  s_open: "s",
  link_open: "span",
};

export default function Rendered(props: { text: string; answer?: ExtractedAnswer | undefined }) {
  const { text, answer } = props;
  const content = useMemo(() => render(text, answer), [text, answer]);
  return (
    <>
      {content}
      {text.length > RENDERED_MAX && (
        <Text size="xs" c="dimmed" mt="xs">
          The text is longer. Choose Raw to read all of it.
        </Text>
      )}
    </>
  );
}

export function render(text: string, answer?: ExtractedAnswer): ReactNode {
  const tokens = flat(parse(text.slice(0, RENDERED_MAX)));
  const marked = answer && tokenOf(tokens, text, answer);
  const children = elementsOf(tokens, (token) => token === marked?.token, marked?.words ?? "");
  // Children that are arguments of their own need no keys.
  return createElement("div", { className: "rendered" }, ...children);
}

/** Tokens of blocks and lines in one list, at most as many as are shown. */
function flat(blocks: readonly Token[]): Token[] {
  const tokens: Token[] = [];
  for (const block of blocks) {
    if (tokens.length > TOKENS_MAX) break;
    if (block.type === "inline") tokens.push(...(block.children ?? []));
    else tokens.push(block);
  }
  return tokens.slice(0, TOKENS_MAX);
}

/** The last token that contains the answer. */
function tokenOf(tokens: readonly Token[], text: string, { start, end, boxed }: ExtractedAnswer) {
  const words = text.slice(start, end);
  const token = tokens.findLast(({ type, content }) =>
    boxed
      ? type === "formula" && /\\f?box/.test(content) && content.includes(words)
      : ["text", "formula", "code_inline"].includes(type) && content.includes(words),
  );
  return token && { token, words };
}

interface Open {
  element: string;
  props: { className?: string | undefined; start?: number | undefined };
  children: ReactNode[];
  /** Address of a link, which is shown after its text. */
  address?: string | undefined;
}

function elementsOf(
  tokens: readonly Token[],
  isMarked: (token: Token) => boolean,
  words: string,
): ReactNode[] {
  const root: Open = { element: "div", props: {}, children: [] };
  const open = [root];
  let formulas = 0;
  for (const token of tokens) {
    const { children } = open.at(-1) ?? root;
    if (token.nesting === 1) {
      open.push({ ...opened(token), children: [] });
    } else if (token.nesting === -1) {
      close(open);
    } else if (token.type === "formula") {
      formulas += 1;
      children.push(
        formulas > FORMULAS_MAX ? (
          <code>{token.content}</code>
        ) : (
          <Formula
            tex={token.content}
            display={token.markup === "display"}
            answer={isMarked(token)}
          />
        ),
      );
    } else {
      children.push(leaf(token, isMarked(token) ? words : ""));
    }
  }
  while (open.length > 1) close(open);
  return root.children;
}

function opened(token: Token): Omit<Open, "children"> {
  // Paragraphs of tight lists have no margins.
  const element = token.hidden ? "span" : (ELEMENTS[token.type] ?? "span");
  const address = token.type === "link_open" ? String(token.attrGet("href") ?? "") : undefined;
  if (token.type === "heading_open") return { element, props: { className: "heading" } };
  if (token.type !== "ordered_list_open") return { element, props: {}, address };
  return { element, props: { start: Number(token.attrGet("start") ?? 1) } };
}

function close(open: Open[]): void {
  const ended = open.pop();
  const parent = open.at(-1);
  if (!ended || !parent) return;
  const { element, props, children, address } = ended;
  const after = address === undefined ? null : <code> ({address})</code>;
  parent.children.push(createElement(element, props, ...children, after));
}

/** `words`: the part of the text that is the answer. */
function leaf(token: Token, words: string): ReactNode {
  switch (token.type) {
    case "text":
    case "text_special":
      return marking(token.content, words);
    case "code_inline":
      return <code>{marking(token.content, words)}</code>;
    case "softbreak":
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "fence":
    case "code_block":
      return (
        <pre className="raw code" data-language={languageOf(token.info)}>
          <code>{token.content}</code>
        </pre>
      );
    case "image":
      return (
        <code>
          [image {token.content}] ({token.attrGet("src")})
        </code>
      );
    default:
      return token.content;
  }
}

function marking(text: string, words: string): ReactNode {
  const at = words ? text.lastIndexOf(words) : -1;
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark className="answer">{words}</mark>
      {text.slice(at + words.length)}
    </>
  );
}

function languageOf(info: string): string | undefined {
  return /^[\w+#.-]{1,20}/.exec(info.trim())?.[0];
}
