import { expect, test } from "vitest";
import { pageIn } from "./pageIn";

test("a link opens its page with the page's own parameters", () => {
  expect(pageIn("vision", "/in/vision/batches/1?sort=reward")).toBe("/batches/1?sort=reward");
  expect(pageIn("vision", "/in/vision/")).toBe("/");
});

test("a link leads to no other site", () => {
  expect(pageIn("vision", "/in/vision//example.com")).toBe("/");
  expect(pageIn("vision", "/in/vision/\\example.com")).toBe("/");
});
