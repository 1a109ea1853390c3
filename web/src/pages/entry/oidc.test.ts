import { expect, it } from "vitest";
import { refusal, startOf } from "./oidc";

it("names the page that asks and its tenant", () => {
  expect(startOf(undefined, undefined)).toBe("/v1/session/oidc");
  expect(startOf("/runs?q=a&sort=b", "team")).toBe(
    "/v1/session/oidc?back=%2Fruns%3Fq%3Da%26sort%3Db&tenant=team",
  );
  expect(startOf("/", undefined)).toBe("/v1/session/oidc?back=%2F");
});

it("has a text for each code, and shows none of an address", () => {
  const known = [
    "oidc_refused",
    "oidc_state_unknown",
    "oidc_provider_failed",
    "oidc_not_configured",
    "no_membership",
    "too_many_attempts",
  ].map(refusal);
  const other = refusal("Your password has expired, send it to eve@example.com");
  expect(new Set([...known, other]).size).toBe(7);
  expect(other).not.toContain("eve");
});
