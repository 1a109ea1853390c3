import { expect, it } from "vitest";
import { visible } from "./names";

it("shows characters that could make a name pass for another", () => {
  expect(visible("live-\u202elive")).toBe("live-\u27e8U+202E\u27e9live");
  expect(visible("a\u200bb\tc")).toBe("a\u27e8U+200B\u27e9b\u27e8U+0009\u27e9c");
});

it("leaves other names alone, of any script", () => {
  for (const name of ["qwen-4b  grpo", "\u0645\u0631\u062d\u0628\u0627", "\ud83d\ude80 run"])
    expect(visible(name)).toBe(name);
});
