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

/** What tabs say to each other; a tab that came later asks how the stream stands. */
type Told = { state: LiveState } | { event: LiveEvent } | { ask: true };

/** What is done with what the stream brings. */
export interface Listener {
  /** Of the events that are listened to. */
  names: readonly string[];
  /** Puts what an event tells into what has been read. */
  apply: (queries: QueryClient, event: LiveEvent) => void;
  /** The server answered with a refusal; the session may have ended. */
  refused: (queries: QueryClient) => void;
}

const AGAIN_MS = 5_000;

/** Reads the stream while somebody looks; `tenant` is whose. */
export function useLiveStream(tenant: string, listener: Listener): LiveState {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("starting");
  useEffect(() => {
    const name = `assay-live:${tenant}`;
    const channel = new BroadcastChannel(name);
    const abort = new AbortController();
    let leading: LiveState | null = null;
    const say = (told: Told) => channel.postMessage(told);
    const take = (told: Told) => {
      if ("event" in told) listener.apply(queries, told.event);
      else if ("state" in told) setState(told.state);
      else if (leading) say({ state: leading });
    };
    channel.onmessage = ({ data }: MessageEvent<Told>) => take(data);
    say({ ask: true });
    const lead = async () => {
      // The turn may come in the very moment in which the page goes.
      if (abort.signal.aborted) return;
      const tell = (told: Told) => {
        if ("state" in told) leading = told.state;
        say(told);
        take(told);
      };
      await read(listener.names, abort.signal, tell, () => listener.refused(queries));
    };
    // Only pages of a secure origin have locks; elsewhere each tab reads for itself.
    const turn = navigator.locks
      ? navigator.locks.request(name, { signal: abort.signal }, lead)
      : lead();
    // Closed before it was this tab's turn.
    turn.catch(() => undefined);
    return () => {
      abort.abort();
      channel.close();
    };
  }, [tenant, listener, queries]);
  return state;
}

/**
 * Until the signal. A connection that breaks the browser itself takes up again, and says where it
 * left off; one that the server refused it gives up, so that is tried anew from here.
 */
function read(
  names: readonly string[],
  signal: AbortSignal,
  tell: (told: Told) => void,
  refused: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      source = new EventSource("/v1/live");
      source.onopen = () => tell({ state: "open" });
      source.onerror = () => {
        tell({ state: "lost" });
        if (source.readyState !== EventSource.CLOSED) return;
        refused();
        timer = setTimeout(open, AGAIN_MS);
      };
      for (const name of names) {
        source.addEventListener(name, (event: MessageEvent<string>) =>
          tell({ event: { name, data: JSON.parse(event.data) } }),
        );
      }
    };
    open();
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      source.close();
      resolve();
    });
  });
}
