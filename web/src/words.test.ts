// Phrases that readers had to read twice, and that no page may show again.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

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

test("no source has a banned phrase", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    // Tests are not shown, and descriptions of the interface are not part of the pages.
    (file) => /\.tsx?$/.test(file) && !file.includes(".test.") && !file.endsWith("schema.d.ts"),
  );
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) => {
    // Text may wrap anywhere in the source.
    const text = readFileSync(join(SOURCES, file), "utf8").replace(/\s+/g, " ").toLowerCase();
    return BANNED.filter((phrase) => text.includes(phrase.toLowerCase())).map(
      (phrase) => `${file}: ${phrase}`,
    );
  });
  expect(found).toEqual([]);
});
