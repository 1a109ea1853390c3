// Phrases that readers had to read twice, and that no page may show again.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { wordsOf } from "./words";

const BANNED = [
  "Of each number",
  "Held to ceiling",
  "Busy of workers",
  "A start takes",
  "To T + D",
  "Beside stages",
  "Ctrl and the wheel",
  "None came, or",
  "Take a filter away",
  "is like that",
  "Again: may",
  "never a number",
  "They agree:",
  "least and most",
  "Nothing is known yet",
  "What would have become",
  "As now when empty",
  "really busy",
  "its own history",
  "the most that may be",
  "no bound but",
  "Who is suspended",
  "Who is refused",
  "Name for people",
  "shown this once",
  "By https, unless",
  "Look at another tenant",
  "As the system",
  "Leave it",
  "Memory, most",
  "Retries, most",
  "the same each time",
  "holds from now",
  "Of who is new",
];

const SOURCES = import.meta.dirname;

/** Sources whose words are shown; descriptions of the interface are not part of the pages. */
const FILES = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|schema\.d\.ts$|^words\.ts$/.test(file))
  .sort();

const sourceOf = (file: string) => readFileSync(join(SOURCES, file), "utf8");

test("no source has a banned phrase", () => {
  expect(FILES.length).toBeGreaterThan(100);
  const found = FILES.flatMap((file) => {
    // Text may wrap anywhere in the source.
    const text = sourceOf(file).replace(/\s+/g, " ").toLowerCase();
    return BANNED.filter((phrase) => text.includes(phrase.toLowerCase())).map(
      (phrase) => `${file}: ${phrase}`,
    );
  });
  expect(found).toEqual([]);
});

test("texts are found wherever people see them", () => {
  const source = `
    const column = { title: "Run", cell: 1 };
    const page = (
      <Page title={late ? "Late" : \`Batch \${id}\`} key="none">
        Ended {ago(at)}, <b>late</b>.
      </Page>
    );`;
  expect(wordsOf("page.tsx", source)).toEqual([
    "Run",
    "Ended {…}, {…} .",
    "Late",
    "Batch {…}",
    "late",
  ]);
});

test("all words of the pages stand in one catalogue", async () => {
  const pages = FILES.map((file) => [file, wordsOf(file, sourceOf(file))] as const);
  const shown = pages.filter(([, words]) => words.length > 0);
  const text = shown.map(
    ([file, words]) => `${file}\n${words.map((one) => `  ${one}\n`).join("")}`,
  );
  await expect(text.join("\n")).toMatchFileSnapshot("../words.txt");
});
