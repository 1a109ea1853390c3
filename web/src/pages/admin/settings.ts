// Converts the settings of a tenant to form values, and form values to a merge patch.

import type { FieldPaths } from "../../parts/fields";
import { namesIn } from "./keys";
import type { TenantSettings } from "./queries";

/** Value of a number field; empty text means no limit. */
export type Field = number | string;

export interface SettingsForm {
  displayName: string;
  weight: Field;
  shareRuns: boolean;
  openBatches: Field;
  requestsPerMinute: Field;
  storedGigabytes: Field;
  /** Max workers by pool. */
  workers: Record<string, Field>;
  gpu: boolean;
  /** All toolchains, or only those in `named`. */
  toolchains: "all" | "named";
  named: string;
  /** Hosts that plugins may call; none when empty. */
  hosts: string;
}

/** Paths in the form of the members that a refusal may name. */
export const SETTING_PATHS: FieldPaths = {
  display_name: "displayName",
  weight: "weight",
  "quotas.open_batches_max": "openBatches",
  "quotas.requests_per_minute_max": "requestsPerMinute",
  "quotas.stored_bytes_max": "storedGigabytes",
  "quotas.workers_max.*": "workers.*",
  "grants.toolchains": "named",
  "grants.hosts": "hosts",
};

const GIGABYTE = 1e9;

export function formOf(settings: TenantSettings, pools: readonly string[]): SettingsForm {
  const { quotas, grants } = settings;
  const bounds = quotas.workers_max ?? {};
  const names = [...new Set([...pools, ...Object.keys(bounds)])].sort();
  return {
    displayName: settings.display_name,
    weight: settings.weight,
    shareRuns: settings.share_runs,
    openBatches: quotas.open_batches_max ?? "",
    requestsPerMinute: quotas.requests_per_minute_max ?? "",
    storedGigabytes: quotas.stored_bytes_max == null ? "" : quotas.stored_bytes_max / GIGABYTE,
    workers: Object.fromEntries(names.map((pool) => [pool, bounds[pool] ?? ""])),
    gpu: grants.gpu,
    toolchains: grants.toolchains == null ? "all" : "named",
    named: (grants.toolchains ?? []).join(", "),
    hosts: (grants.hosts ?? []).join(", "),
  };
}

/** The granted toolchains in words: all of them without a list, none with an empty one. */
export function toolchainsText(granted: readonly string[] | null | undefined): string {
  if (granted == null) return "all";
  return granted.join(", ") || "none granted";
}

/**
 * Builds the merge patch (RFC 7396) that changes the settings of one form to those of another. What is equal in
 * both is left out: another person may have changed it meanwhile. Null removes a limit, which the generated type
 * cannot express.
 */
export function patchOf(before: SettingsForm, after: SettingsForm): MergePatch {
  return changesOf(membersOf(before), membersOf(after));
}

function membersOf(form: SettingsForm): MergePatch {
  const workers = Object.entries(form.workers).map(([pool, max]) => [pool, bound(max)] as const);
  const gigabytes = bound(form.storedGigabytes);
  return {
    display_name: form.displayName,
    weight: bound(form.weight) ?? 1,
    share_runs: form.shareRuns,
    quotas: {
      open_batches_max: bound(form.openBatches),
      requests_per_minute_max: bound(form.requestsPerMinute),
      stored_bytes_max: gigabytes === null ? null : Math.round(gigabytes * GIGABYTE),
      workers_max: Object.fromEntries(workers),
    },
    grants: {
      gpu: form.gpu,
      toolchains: form.toolchains === "all" ? null : (namesIn(form.named) ?? []),
      hosts: namesIn(form.hosts) ?? [],
    },
  };
}

export interface MergePatch {
  [member: string]: string | number | boolean | null | string[] | MergePatch;
}

/** The members of `after` that differ from those of `before`. */
export function changesOf(before: MergePatch, after: MergePatch): MergePatch {
  const changes: MergePatch = {};
  for (const [member, value] of Object.entries(after)) {
    const old = before[member];
    if (isPatch(value) && isPatch(old)) {
      const within = changesOf(old, value);
      if (Object.keys(within).length > 0) changes[member] = within;
    } else if (JSON.stringify(value) !== JSON.stringify(old)) {
      changes[member] = value;
    }
  }
  return changes;
}

function isPatch(value: MergePatch[string] | undefined): value is MergePatch {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function bound(field: Field): number | null {
  return field === "" ? null : Number(field);
}
