import { expect, it } from "vitest";
import { backTo } from "./back";

it("keeps path and query, and never the hash, which may hold a token", () => {
  const location = {
    pathname: "/runs",
    searchStr: "?q=x",
    hash: "secret",
    href: "/runs?q=x#secret",
  };
  expect(backTo(location)).toBe("/runs?q=x");
});
