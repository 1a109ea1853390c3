// The files that the lists of the administration save: all rows that match the search.

import { api, data } from "../../api/client";
import { type ExportPage, pageOf } from "../../parts/exports";
import { present } from "../../parts/search";

/** Properties of the export of a list whose cursor is a text. */
export interface Exported {
  name: string;
  columns: readonly string[];
  read: (after: string | undefined) => Promise<ExportPage<string>>;
}

/** The rows of one call. */
const PAGE = 1_000;

const part = (q: string | undefined, after: string | undefined) => ({
  ...present({ q, after }),
  limit: PAGE,
});

export const keysExport = (tenant: string, q: string | undefined): Exported => ({
  name: `keys of ${tenant}`,
  columns: [
    "id",
    "name",
    "person",
    "prefix",
    "scopes",
    "plugins",
    "created_at",
    "expires_at",
    "revoked_at",
    "last_used_at",
  ],
  read: async (after) => {
    const query = { tenant, ...part(q, after) };
    return pageOf(await data(api.GET("/v1/keys", { params: { query }, parseAs: "text" })));
  },
});

export const membersExport = (tenant: string, q: string | undefined): Exported => ({
  name: `members of ${tenant}`,
  columns: ["person", "email", "name", "role", "added_at"],
  read: async (after) => {
    const query = { tenant, ...part(q, after) };
    return pageOf(await data(api.GET("/v1/members", { params: { query }, parseAs: "text" })));
  },
});

export const peopleExport = (q: string | undefined): Exported => ({
  name: "people",
  columns: ["id", "email", "name", "memberships", "created_at", "disabled_at"],
  read: async (after) => {
    const query = part(q, after);
    return pageOf(await data(api.GET("/v1/people", { params: { query }, parseAs: "text" })));
  },
});

export const tenantsExport = (q: string | undefined): Exported => ({
  name: "tenants",
  columns: ["id", "name", "created_at", "suspended_at", "settings"],
  read: async (after) => {
    const query = part(q, after);
    return pageOf(await data(api.GET("/v1/tenants", { params: { query }, parseAs: "text" })));
  },
});
