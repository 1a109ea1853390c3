import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";
import { csrfToken, ProblemError } from "./client";
import { lastTenant } from "./lastTenant";
import { type Session, sessionQuery, watchSession } from "./session";

const inTenant = (tenant: string): Session => ({ tenant, scopes: [], csrf: `of ${tenant}` });
const RUNS = ["runs"];

const stored = new Map<string, string>();
vi.stubGlobal("localStorage", {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => void stored.set(key, value),
});

let queries: QueryClient;
let read: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  queries = new QueryClient();
  watchSession(queries);
  read = vi.spyOn(queries, "invalidateQueries");
  queries.setQueryData(sessionQuery.queryKey, inTenant("ours"));
  queries.setQueryData(RUNS, "runs of ours");
});

const fail = (status: number, code: string) => async () => {
  throw new ProblemError(status, code, "refused");
};

it("keeps the answers while the tenant is the same", () => {
  queries.setQueryData<Session>(sessionQuery.queryKey, {
    ...inTenant("ours"),
    scopes: ["admin:*"],
  });
  expect(queries.getQueryData(RUNS)).toBe("runs of ours");
});

it("drops the answers of the tenant before, however the other one became known", () => {
  queries.setQueryData(sessionQuery.queryKey, inTenant("theirs"));
  expect(queries.getQueryData(RUNS)).toBeUndefined();
  expect(csrfToken()).toBe("of theirs");
});

it("remembers the tenant after the session has ended, for the next one", () => {
  queries.setQueryData(sessionQuery.queryKey, inTenant("theirs"));
  queries.setQueryData(sessionQuery.queryKey, null);
  expect(lastTenant()).toBe("theirs");
});

it("reads the session again after a call that was made for another tenant", async () => {
  const change = queries
    .getMutationCache()
    .build(queries, { mutationFn: fail(403, "csrf"), retry: false });
  await expect(change.execute(undefined)).rejects.toThrow();
  expect(read).toHaveBeenCalledWith({ queryKey: sessionQuery.queryKey });
});

it("ends with a query that is refused without a session, but not with a change", async () => {
  const change = queries.getMutationCache().build(queries, {
    mutationFn: fail(401, "sign_in_failed"),
  });
  await expect(change.execute(undefined)).rejects.toThrow();
  expect(queries.getQueryData(sessionQuery.queryKey)).not.toBeNull();
  const asked = queries.fetchQuery({ queryKey: ["x"], queryFn: fail(401, "x"), retry: false });
  await expect(asked).rejects.toThrow();
  expect(queries.getQueryData(sessionQuery.queryKey)).toBeNull();
});
