import { expect, it } from "vitest";
import type { TenantSettings } from "./queries";
import { formOf, patchOf, toolchainsText } from "./settings";

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

const form = formOf(settings, ["cpu", "gpu"]);

it("changes nothing where nothing was changed", () => {
  expect(patchOf(form, formOf(settings, ["cpu", "gpu"]))).toEqual({});
});

it("leaves out what was not changed, which another person may have changed", () => {
  expect(patchOf(form, { ...form, displayName: "Other team" })).toEqual({
    display_name: "Other team",
  });
  const changed = { ...form, storedGigabytes: 3, workers: { cpu: 2, gpu: 1 }, gpu: false };
  expect(patchOf(form, changed)).toEqual({
    quotas: { stored_bytes_max: 3_000_000_000, workers_max: { gpu: 1 } },
    grants: { gpu: false },
  });
});

it("removes a limit if its field is empty, and distinguishes no toolchain from all", () => {
  const emptied = { ...form, workers: { cpu: "", gpu: "" }, openBatches: "", named: "" };
  expect(patchOf(form, emptied)).toEqual({
    quotas: { open_batches_max: null, workers_max: { cpu: null } },
    grants: { toolchains: [] },
  });
  const hosts = "*.example.com, private:http://10.0.0.5:8000";
  expect(patchOf(form, { ...form, hosts })).toEqual({ grants: { hosts: hosts.split(", ") } });
  expect(patchOf(form, { ...form, hosts: " " })).toEqual({ grants: { hosts: [] } });
  expect(patchOf(form, { ...form, toolchains: "all" })).toEqual({ grants: { toolchains: null } });
});

it("says that no toolchain is granted by an empty list, and all without one", () => {
  expect(toolchainsText([])).toBe("none granted");
  expect(toolchainsText(null)).toBe("all");
  expect(toolchainsText(["lean", "python"])).toBe("lean, python");
});
