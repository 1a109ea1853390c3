// The samples that are asked for, in the URL and in the query of the interface.

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../../api/client";
import { pageOf } from "../../../parts/exports";
import { type RowsSearch, readRows, rowsSearch } from "../../../parts/rows";
import { present, textOf } from "../../../parts/search";

export type Sample = Schemas["SampleSummary"];

export const COLUMNS = [
  "iteration",
  "reward",
  "advantage",
  "verdict",
  "kind",
  "group",
  "key",
  "prompt",
  "response",
  "label",
  "prompt_chars",
  "response_chars",
  "took_ms",
  "component",
] as const;
export type SampleColumn = (typeof COLUMNS)[number];

export const OUTCOMES = ["scored", "timed_out", "error"] as const;
export const GROUP_REWARDS = [
  "all_right",
  "all_wrong",
  "mixed",
] as const satisfies readonly Schemas["GroupRewards"][];

const TEXTS = ["q", "verdict", "group", "label", "component"] as const;
const NUMBERS = [
  "iteration_min",
  "iteration_max",
  "reward_min",
  "reward_max",
  "advantage_min",
  "advantage_max",
  "prompt_chars_min",
  "prompt_chars_max",
  "response_chars_min",
  "response_chars_max",
  "took_ms_min",
  "took_ms_max",
  "component_min",
  "component_max",
] as const;

type Texts = { [K in (typeof TEXTS)[number]]?: string };
export type Bound = (typeof NUMBERS)[number];
type Numbers = { [K in Bound]?: number };

/** The filters of a list of samples. */
export interface SamplesFilter extends Texts, Numbers {
  kind?: (typeof OUTCOMES)[number];
  group_rewards?: (typeof GROUP_REWARDS)[number];
}

export interface SamplesSearch extends SamplesFilter, RowsSearch {
  run?: string;
  batch?: string;
  /** A plugin version, `name@version`. */
  plugin?: string;
  /** A column, with `-` before it for descending order. */
  sort?: string;
  after?: string;
  /** Id of the sample that is shown beside the list. */
  sample?: string;
  /** The group that is compared: `batch/name`. */
  compare?: string;
}

export type SamplesChange = { [K in keyof SamplesSearch]: SamplesSearch[K] | undefined };

/** The column and direction of `-reward`. */
export function orderOf(
  sort: string | undefined,
): { column: SampleColumn; descending: boolean } | undefined {
  const descending = sort?.startsWith("-") ?? false;
  const column = COLUMNS.find((one) => one === (descending ? sort?.slice(1) : sort));
  return column && { column, descending };
}

export function samplesSearch(search: Record<string, unknown>): SamplesSearch {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, textOf(search, name)])) as Texts;
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, numberOf(search[name])]));
  const sort = textOf(search, "sort");
  return present({
    run: textOf(search, "run"),
    batch: textOf(search, "batch"),
    plugin: textOf(search, "plugin"),
    ...texts,
    ...(numbers as Numbers),
    kind: OUTCOMES.find((one) => one === search.kind),
    group_rewards: GROUP_REWARDS.find((one) => one === search.group_rewards),
    sort: orderOf(sort) ? sort : undefined,
    after: textOf(search, "after"),
    sample: textOf(search, "sample"),
    compare: textOf(search, "compare"),
    ...rowsSearch(search),
  });
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The filters alone, which `Clear filters` takes away. */
export function filterOf(search: SamplesSearch): SamplesFilter {
  const { run, batch, plugin, sort, after, sample, compare, rows, ...filter } = search;
  return filter;
}

/** While samples are being prepared the list is read again after this time. */
const PREPARING_MS = 3_000;

export function samplesQuery(search: SamplesSearch) {
  const { sample, compare, after, rows, ...asked } = search;
  return queryOptions({
    queryKey: ["samples", asked, after, rows],
    queryFn: async () => {
      let last: Schemas["SampleList"] | undefined;
      const read = async (cursor: string | undefined, limit: number) => {
        const query = { ...asked, ...present({ after: cursor }), limit };
        last = await data(api.GET("/v1/samples", { params: { query } }));
        return last;
      };
      const page = await readRows(read, after, rows);
      return {
        ...page,
        newest: last?.newest,
        preparing: last?.preparing ?? 0,
        prepared: last?.prepared ?? "words",
      };
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.preparing ? PREPARING_MS : false),
  });
}

const EXPORT_PAGE = 500;

/** Reads all samples that match, in large pages. */
export const samplesExport = (search: SamplesSearch) => async (after: string | undefined) => {
  const { sample, compare, after: _, rows, ...asked } = search;
  const query = { ...asked, ...present({ after }), limit: EXPORT_PAGE };
  const answer = await data(api.GET("/v1/samples", { params: { query }, parseAs: "text" }));
  return pageOf<string>(answer);
};

/** Thousands as the tables show them: `1,000` or `12,345.6`. Nothing is written `0,500`, so that is a half. */
const THOUSANDS = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;

/** A number that is typed; undefined if it is none. A comma that separates no thousands is a decimal point. */
export function typedNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const plain = THOUSANDS.test(text) ? text.replaceAll(",", "") : text.replace(",", ".");
  const value = Number(plain);
  return plain !== "" && Number.isFinite(value) ? value : undefined;
}

/** The batch and the group's name of `compare`. */
export function comparedOf(compare: string): { batch: string; group: string } {
  const at = compare.indexOf("/");
  return { batch: compare.slice(0, at), group: compare.slice(at + 1) };
}
