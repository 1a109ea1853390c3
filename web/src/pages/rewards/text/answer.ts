// The answer that a verifier extracted from a response. The plugin `math` states it at the begin of its
// explanation; otherwise it is the content of the last \boxed{}.

import type { Request } from "../queries";

export interface ExtractedAnswer {
  /** Position in the response. */
  start: number;
  end: number;
  /** Whether it is the content of a \boxed{} or \fbox{}. */
  boxed: boolean;
}

const STATED = /^took `([^`]+)` from (the last \\boxed)?/;
const BOX = /\\f?box(?:ed)?\s*\{/g;
const THOUGHT = "</think>";

export function answerIn(
  response: string,
  explanation?: string | null,
): ExtractedAnswer | undefined {
  const from = afterThought(response);
  const box = lastBox(response, from);
  const [, stated, isBoxed] = STATED.exec(explanation ?? "") ?? [];
  if (stated === undefined || isBoxed) return box;
  const start = response.lastIndexOf(stated);
  return start < from ? undefined : { start, end: start + stated.length, boxed: false };
}

/** The answer in the response of a request; undefined while it runs, or after an error. */
export function answerOf({ response, result }: Request): ExtractedAnswer | undefined {
  if (result?.outcome.kind !== "scored") return undefined;
  return answerIn(response, result.outcome.explanation);
}

/** Verifiers ignore a closed thought if anything follows it. */
function afterThought(response: string): number {
  const at = response.lastIndexOf(THOUGHT);
  const from = at + THOUGHT.length;
  return at >= 0 && response.slice(from).trim() !== "" ? from : 0;
}

/** The most boxes that are looked at, from the last on. */
const BOXES_MAX = 100;

/** Content of the last box that is closed. */
function lastBox(text: string, from: number): ExtractedAnswer | undefined {
  const starts: number[] = [];
  BOX.lastIndex = from;
  while (BOX.exec(text)) starts.push(BOX.lastIndex);
  for (const start of starts.slice(-BOXES_MAX).reverse()) {
    const end = endOfBraces(text, start);
    if (end !== undefined) return { start, end, boxed: true };
  }
  return undefined;
}

/** The most characters in braces. */
export const BRACES_MAX = 2_000;

/** Position of the brace that closes those opened before `from`. */
export function endOfBraces(text: string, from: number): number | undefined {
  const end = Math.min(text.length, from + BRACES_MAX);
  let open = 1;
  for (let at = from; at < end; at += 1) {
    const letter = text[at];
    if (letter === "\\") at += 1;
    else if (letter === "{") open += 1;
    else if (letter === "}") open -= 1;
    if (open === 0) return at;
  }
  return undefined;
}
