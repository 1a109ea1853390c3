// JSON as text: JavaScript rounds numbers above 2^53 and writes `1.0` as `1`.

/** The JSON texts of the members of an object, by name; none of another value. The text must be valid JSON. */
export function membersOf(json: string): Map<string, string> {
  return new Map(membersIn(json));
}

/** The JSON text of the first member with this name, which is read no further; undefined if there is none. */
export function memberOf(json: string, wanted: string): string | undefined {
  for (const [name, member] of membersIn(json)) if (name === wanted) return member;
  return undefined;
}

/** The JSON texts of the elements of a list, each on one line; none of another value. The text must be valid JSON. */
export function elementsOf(json: string): string[] {
  const elements: string[] = [];
  if (!json.startsWith("[")) return elements;
  let depth = 0;
  let element = "";
  for (const { token } of tokensOf(json)) {
    if (token === "}" || token === "]") depth -= 1;
    if (depth > 1 || (depth === 1 && token !== ",")) {
      element += token;
    } else if (element !== "") {
      elements.push(element);
      element = "";
    }
    if (token === "{" || token === "[") depth += 1;
  }
  return elements;
}

function* membersIn(json: string): Generator<[string, string]> {
  if (!json.startsWith("{")) return;
  let depth = 0;
  let name: string | undefined;
  let from = 0;
  for (const { token, at } of tokensOf(json)) {
    const ends = token === "}" || token === "]";
    if (ends) depth -= 1;
    if (name !== undefined && (depth === 0 || (depth === 1 && token === ","))) {
      yield [name, json.slice(from, at).trim()];
      name = undefined;
    } else if (depth === 1 && name === undefined && token.startsWith('"')) {
      name = JSON.parse(token) as string;
    } else if (depth === 1 && token === ":") {
      from = at + 1;
    }
    if (token === "{" || token === "[") depth += 1;
  }
}

/** The same JSON as `JSON.stringify(value, null, 2)` writes it, with each number and text as it stands. */
export function indented(json: string): string {
  let text = "";
  let depth = 0;
  let before = "";
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const { token } of tokensOf(json)) {
    const opened = before === "{" || before === "[";
    if (token === "}" || token === "]") {
      depth -= 1;
      text += opened ? token : line() + token;
    } else {
      if (opened || before === ",") text += line();
      text += token === ":" ? ": " : token;
      if (token === "{" || token === "[") depth += 1;
    }
    before = token;
  }
  return text;
}

const SPACE = /\s/;
const PUNCTUATION = new Set(["{", "}", "[", "]", ":", ","]);

/** Texts, numbers, words and punctuation marks of JSON, in their order. */
function* tokensOf(json: string): Generator<{ token: string; at: number }> {
  let at = 0;
  while (at < json.length) {
    const char = json.charAt(at);
    if (SPACE.test(char)) {
      at += 1;
      continue;
    }
    const end = PUNCTUATION.has(char)
      ? at + 1
      : char === '"'
        ? textEnd(json, at)
        : wordEnd(json, at);
    yield { token: json.slice(at, end), at };
    at = end;
  }
}

/** The place after the closing quote. A long text would exhaust the stack of a regular expression. */
function textEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charAt(at) !== '"') at += json.charAt(at) === "\\" ? 2 : 1;
  return at + 1;
}

function wordEnd(json: string, start: number): number {
  let at = start;
  while (at < json.length && !PUNCTUATION.has(json.charAt(at)) && !SPACE.test(json.charAt(at)))
    at += 1;
  return at;
}
