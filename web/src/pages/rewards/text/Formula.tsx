// A LaTeX formula as MathML. KaTeX parses it; only known elements and attributes become React elements, and
// none of them is a link, an image or a style.

import katex from "katex";
import { createElement, type ReactNode } from "react";

/** A node of KaTeX's tree: an element, or a text. */
interface MathNode {
  type?: string;
  attributes?: Record<string, string>;
  classes?: string[];
  children?: MathNode[];
  text?: string;
  /** Width of a space, in em. */
  width?: number;
}

const { __renderToDomTree: treeOf } = katex as unknown as {
  __renderToDomTree: (tex: string, options: katex.KatexOptions) => MathNode;
};

export const FORMULA_MAX = 2_000;
const NODES_MAX = 4_000;
const DEPTH_MAX = 60;
const SPACE_MAX_EM = 10;

const ELEMENTS = new Set(
  "mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "accent accentunder depth displaystyle fence height largeop linethickness lspace mathvariant maxsize minsize movablelimits rspace scriptlevel separator stretchy symmetric voffset width".split(
    " ",
  ),
);

/** `answer`: marks the content of the last box, or else the whole formula. */
export function Formula(props: { tex: string; display: boolean; answer?: boolean }) {
  const { tex, display, answer = false } = props;
  const content = contentOf(tex, display, answer);
  if (content === undefined) return <code>{tex}</code>;
  const isWhole = answer && !/\\f?box/.test(tex);
  return createElement(
    "math",
    {
      display: display ? "block" : "inline",
      className: isWhole ? "answer" : undefined,
    },
    content,
  );
}

/** Undefined if KaTeX does not understand the formula, or if it is too large. */
function contentOf(tex: string, display: boolean, answer: boolean): ReactNode | undefined {
  if (tex.length > FORMULA_MAX) return undefined;
  try {
    const tree = treeOf(tex, {
      output: "mathml",
      displayMode: display,
      throwOnError: false,
      strict: "ignore",
      trust: false,
      maxExpand: 200,
      maxSize: 10,
    });
    if (tree.classes?.includes("katex-error")) return undefined;
    return elementsOf(tree, answer);
  } catch {
    // A RangeError, for example, because of thousands of nested braces.
    return undefined;
  }
}

function elementsOf(tree: MathNode, answer: boolean): ReactNode {
  const boxes: MathNode[] = [];
  let nodes = 0;
  const measure = (node: MathNode, depth: number) => {
    nodes += 1;
    if (nodes > NODES_MAX || depth > DEPTH_MAX) throw new RangeError("the formula is too large");
    if (isBox(node)) boxes.push(node);
    for (const child of node.children ?? []) measure(child, depth + 1);
  };
  measure(tree, 0);
  const marked = answer ? boxes.at(-1) : undefined;
  const convert = (node: MathNode, key: number): ReactNode => {
    if (node.type === "annotation") return null;
    const children = (node.children ?? []).map(convert);
    if (node.text !== undefined && !node.type) return node.text;
    if (node.width !== undefined && !node.type) {
      return createElement("mspace", { key, width: `${Math.min(node.width, SPACE_MAX_EM)}em` });
    }
    const letters = lettersOf(node);
    if (letters !== undefined) return createElement("mi", { key, mathvariant: "normal" }, letters);
    if (isBox(node)) {
      const className = node === marked ? "box answer" : "box";
      return createElement("mrow", { key, className }, children);
    }
    // The roots of the tree, and elements that are left out, keep their content.
    if (!node.type || !ELEMENTS.has(node.type)) return createElement("mrow", { key }, children);
    const attributes = Object.entries(node.attributes ?? {}).filter(([name]) =>
      ATTRIBUTES.has(name),
    );
    return createElement(node.type, { key, ...Object.fromEntries(attributes) }, ...children);
  };
  return convert(tree, 0);
}

/** First capital, small letter and digit of the alphabets that browsers do not make from `mathvariant`. */
const ALPHABETS: Record<string, [number, number, number]> = {
  bold: [0x1d400, 0x1d41a, 0x1d7ce],
  "double-struck": [0x1d538, 0x1d552, 0x1d7d8],
};
/** Letters that had a place in Unicode before the alphabet. */
const DOUBLE_STRUCK = new Map([..."CHNPQRZ"].map((letter, at) => [letter, [..."ℂℍℕℙℚℝℤ"][at]]));

/** The letters of an identifier in its alphabet, if it has one. */
function lettersOf({ type, attributes, children = [] }: MathNode): string | undefined {
  const variant = attributes?.mathvariant ?? "";
  const alphabet = ALPHABETS[variant];
  const text = children.map((child) => child.text ?? "").join("");
  if (!alphabet || (type !== "mi" && type !== "mn") || !/^[A-Za-z0-9]+$/.test(text))
    return undefined;
  const [capital, small, digit] = alphabet;
  return [...text]
    .map((letter) => {
      const early = variant === "double-struck" ? DOUBLE_STRUCK.get(letter) : undefined;
      if (early) return early;
      if (letter >= "a") return String.fromCodePoint(small + letter.charCodeAt(0) - 97);
      if (letter >= "A") return String.fromCodePoint(capital + letter.charCodeAt(0) - 65);
      return String.fromCodePoint(digit + Number(letter));
    })
    .join("");
}

function isBox(node: MathNode): boolean {
  return node.type === "menclose" && node.attributes?.notation === "box";
}
