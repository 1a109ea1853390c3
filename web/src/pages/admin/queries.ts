// Queries of the administration pages, and invalidation after a change.

import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { pageOf } from "../../parts/exports";
import { type RowsSearch, readRows } from "../../parts/rows";
import { present } from "../../parts/search";

export type Tenant = Schemas["Tenant"];
export type TenantSettings = Schemas["TenantSettings"];
export type TenantUsage = Schemas["TenantUsage"];
export type Key = Schemas["Key"];
export type Member = Schemas["Member"];
export type Role = Schemas["Role"];
export type AuditEntry = Schemas["AuditEntry"];
export type Webhook = Schemas["Webhook"];
export type WebhookDelivery = Schemas["WebhookDelivery"];

/** The part of a list that is shown: a search text and a cursor. */
export interface Listed extends RowsSearch {
  q?: string;
  after?: string;
}

/** Parameters of one call for a part of a list. */
interface Part {
  q?: string;
  after?: string;
  limit: number;
}

/** Reads the rows of a page by one or more calls. */
function listed<Row>(
  { q, after, rows }: Listed,
  call: (part: Part) => Promise<{ items: Row[]; next?: string | null }>,
) {
  return readRows(
    (cursor: string | undefined, limit) => call({ ...present({ q, after: cursor }), limit }),
    after,
    rows,
  );
}

export const tenantsQuery = (part: Listed) =>
  queryOptions({
    queryKey: ["tenants", "list", part.q, part.after, part.rows],
    queryFn: () => listed(part, (query) => data(api.GET("/v1/tenants", { params: { query } }))),
    placeholderData: keepPreviousData,
  });

export const tenantQuery = (name: string) =>
  queryOptions({
    queryKey: ["tenants", "one", name],
    queryFn: () => data(api.GET("/v1/tenants/{name}", { params: { path: { name } } })),
  });

/**
 * Current usage changes without an event, so it is polled; daily usage changes when batches end.
 */
export const usageQuery = (name: string, days: number) =>
  queryOptions({
    queryKey: ["tenants", "one", name, "usage", days],
    queryFn: () =>
      data(api.GET("/v1/tenants/{name}/usage", { params: { path: { name }, query: { days } } })),
    refetchInterval: 5_000,
  });

export const membersQuery = (tenant: string, part: Listed) =>
  queryOptions({
    queryKey: ["members", tenant, part.q, part.after, part.rows],
    queryFn: () =>
      listed(part, (query) =>
        data(api.GET("/v1/members", { params: { query: { tenant, ...query } } })),
      ),
    placeholderData: keepPreviousData,
  });

export const keysQuery = (tenant: string, part: Listed) =>
  queryOptions({
    queryKey: ["keys", tenant, part.q, part.after, part.rows],
    queryFn: () =>
      listed(part, (query) =>
        data(api.GET("/v1/keys", { params: { query: { tenant, ...query } } })),
      ),
    placeholderData: keepPreviousData,
  });

/** The personal keys of the user in the current tenant. */
export const personalKeysQuery = (part: Listed) =>
  queryOptions({
    queryKey: ["keys", "personal", part.after, part.rows],
    queryFn: () =>
      listed(part, ({ after, limit }) =>
        data(api.GET("/v1/session/keys", { params: { query: { ...present({ after }), limit } } })),
      ),
    placeholderData: keepPreviousData,
  });

export const peopleQuery = (part: Listed) =>
  queryOptions({
    queryKey: ["people", part.q, part.after, part.rows],
    queryFn: () => listed(part, (query) => data(api.GET("/v1/people", { params: { query } }))),
    placeholderData: keepPreviousData,
  });

/** Deliveries change without an event, so the list is polled. */
export const webhooksQuery = () =>
  queryOptions({
    queryKey: ["webhooks", "list"],
    queryFn: () => data(api.GET("/v1/webhooks")),
    refetchInterval: 5_000,
  });

export interface AuditFilter {
  tenant?: string;
  action?: string;
  actor?: string;
  since?: string;
  before?: number;
}

export const auditQuery = (filter: AuditFilter) =>
  queryOptions({
    queryKey: ["audit", filter],
    queryFn: () => data(api.GET("/v1/audit", { params: { query: { ...filter, limit: 50 } } })),
    placeholderData: keepPreviousData,
  });

export const AUDIT_COLUMNS = [
  "id",
  "at",
  "tenant",
  "actor.kind",
  "actor.name",
  "action",
  "subject",
  "before",
  "after",
];

/** Reads all entries that match, in large pages. */
export const auditExport =
  (filter: Omit<AuditFilter, "before">) => async (before: number | undefined) => {
    const query = { ...filter, ...present({ before }), limit: 500 };
    const answer = await data(api.GET("/v1/audit", { params: { query }, parseAs: "text" }));
    return pageOf<number>(answer);
  };

/** Invalidates what an administrative action changed, and the audit log. */
export async function changed(
  queries: QueryClient,
  what: "tenants" | "members" | "keys" | "people" | "webhooks",
) {
  await Promise.all([
    queries.invalidateQueries({ queryKey: [what] }),
    queries.invalidateQueries({ queryKey: ["audit"] }),
  ]);
}
