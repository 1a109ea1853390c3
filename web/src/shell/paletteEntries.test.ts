import { expect, it } from "vitest";
import type { Session } from "../api/session";
import { bookEntries, knownEntries, pluginEntries, runEntries } from "./paletteEntries";

const BATCH = "01a2096b-aa97-77f2-bdac-eefdc18cb703";
const session = (change: Partial<Session> = {}) =>
  ({ tenant: "demo", scopes: ["batches:read"], tenants: [], ...change }) as Session;
const labels = (text: string, of = session()) => knownEntries(of, text).map(({ label }) => label);

it("finds the pages that the user may open", () => {
  expect(labels("RUN")).toEqual(["Runs"]);
  expect(labels("admin")).toEqual([]);
  expect(labels("admin", session({ scopes: ["batches:read", "admin:*"] }))).toEqual(["Admin"]);
});

it("finds pages of the documentation", () => {
  expect(bookEntries(" Slurm")).toEqual([
    { group: "Documentation", label: "Workers as jobs of Slurm", to: "/book/operations/slurm" },
  ]);
  expect(bookEntries("")).toEqual([]);
});

it("finds a batch and a request by their whole ids", () => {
  expect(knownEntries(session(), ` ${BATCH} `)[0]?.to).toBe(`/batches/${BATCH}`);
  expect(knownEntries(session(), `${BATCH}.17`)[0]?.to).toBe(`/requests/${BATCH}.17`);
  for (const text of [BATCH.slice(1), `${BATCH}.x`, `${BATCH}.1.2`, `${BATCH}/..`]) {
    expect(labels(text)).toEqual([]);
  }
  expect(labels(BATCH, session({ scopes: ["admin:*"] }))).toEqual([]);
});

it("offers the other tenants of the user", () => {
  const two = session({
    tenants: [
      { tenant: "demo", role: "admin" },
      { tenant: "vision", role: "viewer" },
    ],
  });
  expect(labels("vis", two)).toEqual(["vision (viewer)"]);
  expect(labels("demo", two)).toEqual([]);
});

it("keeps names of tenants out of the path", () => {
  expect(runEntries(["a/../b?c#d"])[0]?.to).toBe("/runs/a%2F..%2Fb%3Fc%23d");
  expect(pluginEntries(["math", "math", "code"]).map(({ label }) => label)).toEqual([
    "math",
    "code",
  ]);
});
