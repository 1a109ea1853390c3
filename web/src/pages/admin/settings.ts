// A tenant's settings as a form has them, and the merge patch that makes the tenant what it says.

import { listed } from "./keys";
import type { TenantSettings } from "./queries";

/** What a number's field holds; empty text for no bound. */
export type Field = number | string;

export interface SettingsForm {
  displayName: string;
  weight: Field;
  openBatches: Field;
  requestsPerMinute: Field;
  storedGigabytes: Field;
  /** By pool. */
  workers: Record<string, Field>;
  gpu: boolean;
  /** `all`, or those in `named`. */
  toolchains: "all" | "named";
  named: string;
  /** Where its plugins may send requests; nowhere when empty. */
  hosts: string;
}

const GIGABYTE = 1e9;

export function formOf(settings: TenantSettings, pools: readonly string[]): SettingsForm {
  const { quotas, grants } = settings;
  const bounds = quotas.workers_max ?? {};
  const names = [...new Set([...pools, ...Object.keys(bounds)])].sort();
  return {
    displayName: settings.display_name,
    weight: settings.weight,
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

/** RFC 7396: null takes a bound away, which the document's type of settings cannot say. */
export function patchOf(form: SettingsForm) {
  const workers = Object.entries(form.workers).map(([pool, max]) => [pool, bound(max)] as const);
  const gigabytes = bound(form.storedGigabytes);
  return {
    display_name: form.displayName,
    weight: bound(form.weight) ?? 1,
    quotas: {
      open_batches_max: bound(form.openBatches),
      requests_per_minute_max: bound(form.requestsPerMinute),
      stored_bytes_max: gigabytes === null ? null : Math.round(gigabytes * GIGABYTE),
      workers_max: Object.fromEntries(workers),
    },
    grants: {
      gpu: form.gpu,
      toolchains: form.toolchains === "all" ? null : (listed(form.named) ?? []),
      hosts: listed(form.hosts) ?? [],
    },
  };
}

export function bound(field: Field): number | null {
  return field === "" ? null : Number(field);
}
