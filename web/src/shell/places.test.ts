import { expect, it } from "vitest";
import { type Session, tenantWith } from "../api/session";
import { placesOf } from "./places";

function session(change: Partial<Session>): Session {
  return { tenant: "demo", scopes: ["batches:read"], tenants: [], ...change } as Session;
}

const labels = (of: Session) =>
  placesOf(of).flatMap(({ places }) => places.map((one) => one.label));

it("shows pages by scope", () => {
  expect(labels(session({}))).toEqual([
    "Overview",
    "Runs",
    "Batches",
    "Incidents",
    "Plugins",
    "Simulate",
    "Documentation",
  ]);
  expect(labels(session({ scopes: ["batches:read", "admin:*"] }))).toContain("Admin");
});

it("shows the platform's pages to its administrators in every tenant", () => {
  const admin = { tenant: "platform", role: "admin" } as const;
  const elsewhere = session({ tenants: [{ tenant: "demo", role: "admin" }, admin] });
  expect(labels(elsewhere)).toEqual(expect.arrayContaining(["Capacity", "Workers"]));
  expect(tenantWith(elsewhere, "platform:*")).toBe("platform");
  const viewer = session({ tenants: [{ tenant: "platform", role: "viewer" }] });
  expect(labels(viewer)).not.toContain("Capacity");
  const there = session({ scopes: ["batches:read", "platform:*"], tenants: [admin] });
  expect(labels(there)).toContain("Capacity");
  expect(tenantWith(there, "platform:*")).toBeUndefined();
});
