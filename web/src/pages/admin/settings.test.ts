import { expect, it } from "vitest";
import type { TenantSettings } from "./queries";
import { formOf, patchOf } from "./settings";

const settings: TenantSettings = {
  display_name: "Team",
  weight: 3,
  share_runs: true,
  suspended: false,
  quotas: {
    open_batches_max: 4,
    requests_per_minute_max: null,
    stored_bytes_max: 2_500_000_000,
    workers_max: { cpu: 2 },
  },
  grants: { gpu: true, hosts: ["api.example.com"], toolchains: ["cpp17-gcc"] },
  retention: { history_days: null, results_days: null },
};

it("converts settings to a form and back", () => {
  expect(patchOf(formOf(settings, ["cpu", "gpu"]))).toEqual({
    display_name: "Team",
    weight: 3,
    share_runs: true,
    quotas: {
      open_batches_max: 4,
      requests_per_minute_max: null,
      stored_bytes_max: 2_500_000_000,
      workers_max: { cpu: 2, gpu: null },
    },
    grants: { gpu: true, hosts: ["api.example.com"], toolchains: ["cpp17-gcc"] },
  });
});

it("removes a limit if its field is empty, and distinguishes no toolchain from all", () => {
  const form = formOf(settings, []);
  const patch = patchOf({ ...form, workers: { cpu: "" }, openBatches: "", named: "" });
  expect(patch.quotas.workers_max).toEqual({ cpu: null });
  expect(patch.quotas.open_batches_max).toBeNull();
  expect(patch.grants.toolchains).toEqual([]);
  const hosts = "*.example.com, private:http://10.0.0.5:8000";
  expect(patchOf({ ...form, hosts }).grants.hosts).toEqual(hosts.split(", "));
  expect(patchOf({ ...form, hosts: " " }).grants.hosts).toEqual([]);
  expect(patchOf({ ...form, toolchains: "all" }).grants.toolchains).toBeNull();
});
