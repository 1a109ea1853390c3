// Replays recorded requests by another version, some at once, and keeps what came back.

import { useEffect, useRef, useState } from "react";
import { api, data, ProblemError } from "../../../api/client";
import type { Compared, Sample } from "./results";

const AT_ONCE = 8;
const PAGE = 500;

export interface Replays {
  state: "idle" | "running" | "done" | "stopped";
  /** What the results are of. */
  asked: Asked | undefined;
  /** Number of requests that are to be compared. */
  of: number;
  results: Compared[];
  /** Requests that could not be replayed, with the reason of the latest. */
  failed: { count: number; last: unknown } | undefined;
  /** Why nothing could be replayed. */
  error: unknown;
}

const NONE: Replays = {
  state: "idle",
  asked: undefined,
  of: 0,
  results: [],
  failed: undefined,
  error: undefined,
};

export interface Asked {
  plugin: string;
  /** The version that ran the requests, and the one that runs them again. */
  before: string;
  after: string;
  limit: number;
}

export function useReplays() {
  const [replays, setReplays] = useState(NONE);
  const stopping = useRef<AbortController | null>(null);
  const stop = () => {
    stopping.current?.abort();
    setReplays((known) => (known.state === "running" ? { ...known, state: "stopped" } : known));
  };
  // Leaving the page stops the replays.
  useEffect(() => () => stopping.current?.abort(), []);
  const start = async (asked: Asked) => {
    stopping.current?.abort();
    const controller = new AbortController();
    stopping.current = controller;
    const { signal } = controller;
    const change = (next: (known: Replays) => Replays) => {
      if (!signal.aborted) setReplays(next);
    };
    setReplays({ ...NONE, state: "running", asked });
    try {
      const samples = await samplesOf(asked, signal);
      change((known) => ({ ...known, of: samples.length }));
      const left = [...samples];
      const work = async () => {
        for (let sample = left.shift(); sample && !signal.aborted; sample = left.shift()) {
          const done = await one(sample, asked.after, signal);
          change((known) => ({ ...known, ...done(known) }));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      change((known) => ({ ...known, state: "done" }));
    } catch (error) {
      change((known) => ({ ...known, state: "stopped", error }));
      // The other loops would go on with requests that cost something.
      controller.abort();
    }
  };
  return { replays, start, stop };
}

/** The newest samples of the version. */
async function samplesOf(asked: Asked, signal: AbortSignal): Promise<Sample[]> {
  const plugin = `${asked.plugin}@${asked.before}`;
  const samples: Sample[] = [];
  let after: string | undefined;
  do {
    const limit = Math.min(PAGE, asked.limit - samples.length);
    const query = { plugin, limit, ...(after ? { after } : {}) };
    const page = await data(api.GET("/v1/samples", { params: { query }, signal }));
    samples.push(...page.items);
    after = page.next ?? undefined;
  } while (after && samples.length < asked.limit);
  return samples;
}

/** A request that cannot be replayed is counted; a refusal that holds for all of them ends the comparison. */
async function one(
  sample: Sample,
  version: string,
  signal: AbortSignal,
): Promise<(known: Replays) => Partial<Replays>> {
  try {
    const params = { path: { id: sample.id } };
    const call = api.POST("/v1/requests/{id}/replay", { params, body: { version }, signal });
    const replay = await data(call);
    return ({ results }) => ({ results: [...results, { sample, replay }] });
  } catch (error) {
    if (concernsAll(error)) throw error;
    return ({ failed }) => ({ failed: { count: (failed?.count ?? 0) + 1, last: error } });
  }
}

/** No right, a used-up quota, an unknown version, no server: not a matter of one request. */
function concernsAll(error: unknown): boolean {
  const { status } = ProblemError.from(error);
  return status === 0 || status === 401 || status === 403 || status === 429;
}
