// Parses Markdown with formulas into a flat list of tokens. HTML stays text. Every rule looks ahead a
// bounded number of characters, so that hostile text takes no longer than its length allows.

import MarkdownIt, { type StateBlock, type StateInline, type Token } from "markdown-it";
import { BRACES_MAX, endOfBraces } from "./answer";

export type { Token };

const LINES_MAX = 200;
const NESTING_MAX = 20;

const markdown = new MarkdownIt({
  html: false,
  linkify: false,
  breaks: true,
  maxNesting: NESTING_MAX,
});
markdown.inline.ruler.before("escape", "formula", formula);
markdown.block.ruler.before("fence", "formula_block", formulaBlock, {
  alt: ["paragraph", "reference", "blockquote", "list"],
});

export function parse(text: string): Token[] {
  return markdown.parse(text, {});
}

/** A formula in a line: `$x$`, `$$x$$`, `\(x\)`, `\[x\]`, or a `\boxed{x}` outside of these. */
function formula(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state;
  const found = formulaAt(src, pos);
  if (!found) return false;
  if (!silent) {
    const token = state.push("formula", "", 0);
    token.content = found.tex;
    token.markup = found.display ? "display" : "";
  }
  state.pos = found.end;
  return true;
}

interface Found {
  tex: string;
  display: boolean;
  end: number;
}

function formulaAt(src: string, pos: number): Found | undefined {
  if (src[pos] === "$") {
    if (src[pos + 1] === "$") return between(src, pos + 2, "$$", true);
    return dollars(src, pos + 1);
  }
  if (src[pos] !== "\\") return undefined;
  if (src[pos + 1] === "(") return between(src, pos + 2, "\\)", false);
  if (src[pos + 1] === "[") return between(src, pos + 2, "\\]", true);
  const box = /^\\(?:boxed|fbox)\{/.exec(src.slice(pos, pos + 8))?.[0];
  const end = box && endOfBraces(src, pos + box.length);
  if (!end) return undefined;
  return { tex: src.slice(pos, end + 1), display: false, end: end + 1 };
}

function between(src: string, from: number, closer: string, display: boolean): Found | undefined {
  const length = src.slice(from, from + BRACES_MAX).indexOf(closer);
  if (length <= 0) return undefined;
  return {
    tex: src.slice(from, from + length),
    display,
    end: from + length + closer.length,
  };
}

/** `$5 and $6` is no formula: none begins or ends with a space, or has a digit after it. */
function dollars(src: string, from: number): Found | undefined {
  if (/^[\s$]?$/.test(src[from] ?? "")) return undefined;
  const end = Math.min(src.length, from + BRACES_MAX);
  for (let at = from; at < end; at += 1) {
    if (src[at] === "\\") at += 1;
    else if (src[at] === "$") {
      if (/\s/.test(src[at - 1] ?? "") || /\d/.test(src[at + 1] ?? "")) return undefined;
      return { tex: src.slice(from, at), display: false, end: at + 1 };
    }
  }
  return undefined;
}

const OPENERS = /^(\$\$|\\\[|\\begin\{([a-z]+\*?)\})/;

/** A formula on lines of its own. */
function formulaBlock(state: StateBlock, first: number, last: number, silent: boolean): boolean {
  if ((state.sCount[first] ?? 0) - state.blkIndent >= 4) return false;
  const lineOf = (line: number) =>
    state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);
  const opener = OPENERS.exec(lineOf(first));
  if (!opener) return false;
  const [mark, , environment] = opener;
  const closer = environment ? `\\end{${environment}}` : mark === "$$" ? "$$" : "\\]";
  const lines: string[] = [];
  for (let line = first; line < Math.min(last, first + LINES_MAX); line += 1) {
    const text = line === first ? lineOf(line).slice(mark?.length) : lineOf(line);
    const at = text.indexOf(closer);
    if (at < 0) {
      lines.push(text);
      continue;
    }
    // Text after the formula makes it a part of a paragraph.
    if (!/^[\s.,;]*$/.test(text.slice(at + closer.length))) return false;
    lines.push(text.slice(0, at));
    if (silent) return true;
    const token = state.push("formula", "", 0);
    token.block = true;
    token.markup = "display";
    const tex = lines.join("\n").trim();
    token.content = environment ? `${mark}${tex}${closer}` : tex;
    token.map = [first, line + 1];
    state.line = line + 1;
    return true;
  }
  return false;
}
