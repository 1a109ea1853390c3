// Choices of the simulation form: recent batches and runs, and their pools.

import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { ago } from "../../parts/format";
import { pluginName, type SimulateSearch } from "./form";

const LISTED = 200;

export interface Choice {
  value: string;
  label: string;
  plugin: string;
}

/** Includes the batch that the URL names, even if it is old. */
export function useBatches(named: string | undefined) {
  const listed = useQuery({
    queryKey: ["batches", "simulated"],
    queryFn: async (): Promise<Choice[]> => {
      const query = { state: "done" as const, limit: LISTED };
      const { items } = await data(api.GET("/v1/batches", { params: { query } }));
      return items.map(({ batch }) => choice(batch));
    },
  });
  const one = useQuery({
    queryKey: ["batches", "simulated", named],
    enabled: named !== undefined,
    queryFn: async () => {
      const path = { id: named ?? "" };
      return choice(await data(api.GET("/v1/batches/{id}", { params: { path } })));
    },
  });
  return { listed, choices: withNamed(listed.data ?? [], one.data) };
}

export function useRuns(named: string | undefined) {
  const listed = useQuery({
    queryKey: ["runs", "simulated"],
    queryFn: async (): Promise<Choice[]> => {
      const { items } = await data(api.GET("/v1/runs", { params: { query: { limit: LISTED } } }));
      return items
        .filter(({ batches }) => batches > 0)
        .map(({ name, plugin, last_batch_at }) => ({
          value: name,
          label: `${name}, last batch ${ago(last_batch_at)}`,
          plugin,
        }));
    },
  });
  const one = useQuery({
    queryKey: ["runs", "simulated", named],
    enabled: named !== undefined,
    queryFn: async (): Promise<Choice> => {
      const params = { path: { run: named ?? "" }, query: { last: 1 } };
      const { run } = await data(api.GET("/v1/runs/{run}", { params }));
      return { value: run.name, label: run.name, plugin: run.plugin };
    },
  });
  const fallback = named === undefined ? undefined : { value: named, label: named, plugin: "" };
  return { listed, choices: withNamed(listed.data ?? [], one.data ?? fallback) };
}

/** Stages of a plugin version with their pools. */
export function useStages(plugin: string | undefined): { name: string; pool: string }[] {
  const name = plugin ? pluginName(plugin) : "";
  const { data: versions } = useQuery({
    queryKey: ["plugins", "one", name],
    enabled: name !== "",
    queryFn: () => data(api.GET("/v1/plugins/{name}", { params: { path: { name } } })),
  });
  const version = versions?.items.find((one) => plugin === `${one.name}@${one.version}`);
  return version?.stages ?? [];
}

/** The batch that the URL names, or else the latest one. */
export function chosenOf(search: SimulateSearch, batches: Choice[]): string {
  return search.batch ?? batches[0]?.value ?? "";
}

function choice(batch: {
  id: string;
  run: string;
  iteration: number;
  plugin: string;
  done_at?: string | null;
  counts: { submitted: number };
}): Choice {
  const { id, run, iteration, plugin, done_at, counts } = batch;
  const label = `${run} · ${iteration}, ${counts.submitted} requests, ended ${ago(done_at)}`;
  return { value: id, label, plugin };
}

export function withNamed(choices: Choice[], named: Choice | undefined): Choice[] {
  if (!named || choices.some(({ value }) => value === named.value)) return choices;
  return [named, ...choices];
}
