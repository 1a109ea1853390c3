import { expect, it } from "vitest";
import { differences } from "./diff";

it("lists every changed field and no other", () => {
  const before = { weight: 1, quotas: { workers_max: { cpu: 2 }, open_batches_max: 4 } };
  const after = { weight: 1, quotas: { workers_max: { cpu: 8, gpu: 1 } } };
  expect(differences(before, after)).toEqual([
    { path: "quotas.open_batches_max", before: "4", after: undefined },
    { path: "quotas.workers_max.cpu", before: "2", after: "8" },
    { path: "quotas.workers_max.gpu", before: undefined, after: "1" },
  ]);
});

it("lists created and removed values", () => {
  const key = { name: "trainer", scopes: ["batches:read", "batches:write"] };
  expect(differences(undefined, key)).toEqual([
    { path: "name", before: undefined, after: "trainer" },
    { path: "scopes", before: undefined, after: "batches:read, batches:write" },
  ]);
  expect(differences("viewer", "admin")).toEqual([{ path: "", before: "viewer", after: "admin" }]);
  expect(differences({ a: [] }, null)).toEqual([{ path: "a", before: "none", after: undefined }]);
});
