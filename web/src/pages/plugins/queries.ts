// Queries of the plugin pages.

import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { pageOf } from "../../parts/exports";
import { elementsOf, memberOf, membersOf } from "../../parts/json";
import { type RowsSearch, readRows } from "../../parts/rows";
import { present } from "../../parts/search";

export type Plugin = Schemas["Plugin"];
/** A version whose schemas are the JSON that the server sent. */
export interface Version extends Plugin {
  settings_schema?: string;
  label_schema?: string;
}
export type PluginStats = Schemas["PluginStats"];
export type GoldenCase = Schemas["GoldenCase"];
export type CaseCounts = Schemas["CaseCounts"];
export type StageHistogram = Schemas["StageHistogram"];

export interface PluginsFilter extends RowsSearch {
  q?: string;
  after?: string;
}

export const pluginsQuery = ({ q, after, rows }: PluginsFilter) =>
  queryOptions({
    queryKey: ["plugins", "all", q, after, rows],
    queryFn: () => {
      const read = (cursor: string | undefined, limit: number) => {
        const query = { ...present({ q, after: cursor }), limit };
        return data(api.GET("/v1/plugins", { params: { query } }));
      };
      return readRows(read, after, rows);
    },
    placeholderData: keepPreviousData,
  });

export const PLUGIN_COLUMNS = [
  "name",
  "version",
  "digest",
  "channels",
  "published_at",
  "yanked",
  "deterministic",
];

/** Reads the whole list in large pages. */
export const pluginsExport =
  ({ q }: PluginsFilter) =>
  async (after: string | undefined) => {
    const query = { ...present({ q, after }), limit: 1_000 };
    const answer = await data(api.GET("/v1/plugins", { params: { query }, parseAs: "text" }));
    return pageOf<string>(answer);
  };

export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["plugins", "one", name],
    queryFn: async () => {
      const call = api.GET("/v1/plugins/{name}", { params: { path: { name } }, parseAs: "text" });
      return versionsOf(await data(call));
    },
  });

/** Reads the answer of `GET /v1/plugins/{name}`. */
export function versionsOf(json: string): { items: Version[] } {
  const { items } = JSON.parse(json) as Schemas["PluginList"];
  const lines = elementsOf(memberOf(json, "items") ?? "");
  return {
    items: items.map(({ settings_schema, label_schema, ...item }, at) => {
      const members = membersOf(lines[at] ?? "");
      return {
        ...item,
        ...present({
          settings_schema: settings_schema == null ? undefined : members.get("settings_schema"),
          label_schema: label_schema == null ? undefined : members.get("label_schema"),
        }),
      };
    }),
  };
}

/** The channels of a plugin, and the version to which a rollback would point each. */
export const channelsQuery = (name: string) =>
  queryOptions({
    queryKey: ["plugins", "channels", name],
    queryFn: () => data(api.GET("/v1/plugins/{name}/channels", { params: { path: { name } } })),
  });

export const casesQuery = (name: string, version: string) =>
  queryOptions({
    queryKey: ["plugins", "cases", name, version],
    queryFn: () => {
      const params = { path: { name, version } };
      return data(api.GET("/v1/plugins/{name}/versions/{version}/cases", { params }));
    },
  });

/** Statistics of batches that ended in the last `days` days; of all times when absent. */
export const statsQuery = (name: string, version: string, days: number | undefined) =>
  queryOptions({
    queryKey: ["plugins", "stats", name, version, days],
    queryFn: () => {
      const from = days && new Date(Date.now() - days * 86_400_000).toISOString();
      const params = { path: { name, version }, query: from ? { from } : {} };
      return data(api.GET("/v1/plugins/{name}/versions/{version}/stats", { params }));
    },
    placeholderData: keepPreviousData,
  });

export function pluginsChanged(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ["plugins"] });
}
