import { expect, it } from "vitest";
import { looksLikeText, textOf } from "./preview";

it("previews text types only", () => {
  expect(["text/plain", "application/json", "text/x-cuda"].every(looksLikeText)).toBe(true);
  expect(["application/octet-stream", "image/png"].some(looksLikeText)).toBe(false);
});

it("cuts long text between characters", () => {
  const bytes = new TextEncoder().encode(`a${"é".repeat(40_000)}`);
  const { text, cut } = textOf(bytes.buffer);
  expect(cut).toBe(true);
  expect(text).toBe(`a${"é".repeat(32_767)}`);
  expect(textOf(new TextEncoder().encode("all").buffer)).toEqual({ text: "all", cut: false });
});
