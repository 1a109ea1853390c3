// The one stream of events that a browser has, whichever of its tabs reads it: browsers allow six
// connections to a server over HTTP/1.1, and a stream in each tab would use them up. The tab that
// holds the lock reads and tells the others; when it is closed the next one takes the lock.

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

export type LiveState = "starting" | "open" | "lost";

/** An event of `GET /v1/live`, as it came. */
export interface LiveEvent {
  name: string;
  data: unknown;
}

type Told = { state: LiveState } | { event: LiveEvent };

/** Puts what an event tells into what has been read. */
export type Apply = (queries: QueryClient, event: LiveEvent) => void;

/** Reads the stream while somebody looks; `tenant` is whose. */
export function useLiveStream(tenant: string, names: readonly string[], apply: Apply): LiveState {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("starting");
  useEffect(() => {
    const channel = new BroadcastChannel(`assay-live:${tenant}`);
    const abort = new AbortController();
    const take = (told: Told) => {
      if ("state" in told) setState(told.state);
      else apply(queries, told.event);
    };
    channel.onmessage = ({ data }: MessageEvent<Told>) => take(data);
    const lead = () =>
      read(names, abort.signal, (told) => {
        channel.postMessage(told);
        take(told);
      });
    navigator.locks
      .request(`assay-live:${tenant}`, { signal: abort.signal }, lead)
      // Closed before it was this tab's turn.
      .catch(() => undefined);
    return () => {
      abort.abort();
      channel.close();
    };
  }, [tenant, names, apply, queries]);
  return state;
}

/** Until the signal: the browser itself reconnects, and says where it left off. */
function read(names: readonly string[], signal: AbortSignal, tell: (told: Told) => void) {
  return new Promise<void>((resolve) => {
    const source = new EventSource("/v1/live");
    source.onopen = () => tell({ state: "open" });
    source.onerror = () => tell({ state: "lost" });
    for (const name of names) {
      source.addEventListener(name, (event: MessageEvent<string>) =>
        tell({ event: { name, data: JSON.parse(event.data) } }),
      );
    }
    signal.addEventListener("abort", () => {
      source.close();
      resolve();
    });
  });
}
