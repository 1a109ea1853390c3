import { expect, it } from "vitest";
import { backTo, isLocal } from "./back";

it("keeps path and query, and never the hash, which may hold a token", () => {
  const location = {
    pathname: "/runs",
    searchStr: "?q=x",
    hash: "secret",
    href: "/runs?q=x#secret",
  };
  expect(backTo(location)).toBe("/runs?q=x");
});

it.each(["/", "/runs?q=%2F%2Fx", "/runs/ü"])("returns to %s", (back) => {
  expect(isLocal(back)).toBe(true);
});

it.each([
  "//host",
  "/\\host",
  "/\t/host",
  "/\n\\host",
  "https://host/",
  "javascript:alert(1)",
  "",
  7,
  undefined,
])("never returns to %j", (back) => {
  expect(isLocal(back)).toBe(false);
});
