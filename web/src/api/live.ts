// The stream of live events, read once per browser. Browsers allow six HTTP/1.1 connections to a
// server, and a stream in each tab would use them up. The tab that holds a lock reads the stream
// and publishes its events to the other tabs; when it is closed, the next tab gets the lock.
// Pages of plain HTTP have no locks: there each tab reads for itself, but only while it is visible.

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

export type LiveState = "starting" | "open" | "lost";

/** An event of `GET /v1/live`, unchanged. */
export interface LiveEvent {
  name: string;
  data: unknown;
}

/** A message between tabs; a tab that opens later asks for the state of the stream. */
type TabMessage = { state: LiveState } | { event: LiveEvent } | { ask: true };

/** How a page uses the stream. */
export interface Listener {
  /** Names of the events that it subscribes to. */
  names: readonly string[];
  /** Applies an event to the cached answers. */
  apply: (queries: QueryClient, event: LiveEvent) => void;
  /**
   * Called when the server refuses the stream, or opens it again after it broke: the session may have ended, or have
   * another tenant.
   */
  interrupted: (queries: QueryClient) => void;
}

const RETRY_MS = 5_000;

/** Reads the stream of the tenant while the page is open. */
export function useLiveStream(tenant: string, listener: Listener): LiveState {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("starting");
  useEffect(() => {
    const name = `assay-live:${tenant}`;
    const channel = new BroadcastChannel(name);
    const abort = new AbortController();
    // Set while this tab is the one that reads the stream.
    let readState: LiveState | null = null;
    const post = (message: TabMessage) => channel.postMessage(message);
    const receive = (message: TabMessage) => {
      if ("event" in message) listener.apply(queries, message.event);
      else if ("state" in message) setState(message.state);
      else if (readState) post({ state: readState });
    };
    channel.onmessage = ({ data }: MessageEvent<TabMessage>) => receive(data);
    post({ ask: true });
    const interrupted = () => listener.interrupted(queries);
    const readForAllTabs = async () => {
      // The lock may be granted at the moment in which the page is left.
      if (abort.signal.aborted) return;
      const publish = (message: TabMessage) => {
        if ("state" in message) readState = message.state;
        post(message);
        receive(message);
      };
      await read(listener.names, abort.signal, publish, interrupted);
    };
    // Absent on pages of plain HTTP, whatever the type says.
    const locks = navigator.locks as LockManager | undefined;
    if (locks) {
      const reading = locks.request(name, { signal: abort.signal }, readForAllTabs);
      // The request for the lock rejects when the page is left before it is granted.
      reading.catch(() => undefined);
    } else {
      whileVisible(document, abort.signal, (shown) => {
        setState("starting");
        // The stream begins with a snapshot, which replaces what was missed while the tab was hidden.
        void read(listener.names, shown, receive, interrupted);
      });
    }
    return () => {
      abort.abort();
      channel.close();
    };
  }, [tenant, listener, queries]);
  return state;
}

/** Calls `start` whenever the page becomes visible; the signal that it gets aborts when the page is hidden or left. */
export function whileVisible(
  page: Pick<Document, "visibilityState" | "addEventListener">,
  left: AbortSignal,
  start: (shown: AbortSignal) => void,
): void {
  let shown: AbortController | null = null;
  const update = () => {
    const visible = page.visibilityState === "visible" && !left.aborted;
    if (!visible) {
      shown?.abort();
      shown = null;
    } else if (!shown) {
      shown = new AbortController();
      start(shown.signal);
    }
  };
  page.addEventListener("visibilitychange", update, { signal: left });
  left.addEventListener("abort", update);
  update();
}

/**
 * Reads until the signal aborts. The browser resumes a broken connection where it stopped. It gives
 * up when the server refuses the connection, so this function retries that case.
 */
function read(
  names: readonly string[],
  signal: AbortSignal,
  publish: (message: TabMessage) => void,
  interrupted: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let broke = false;
    const open = () => {
      source = new EventSource("/v1/live");
      source.onopen = () => {
        publish({ state: "open" });
        if (broke) interrupted();
        broke = false;
      };
      source.onerror = () => {
        broke = true;
        publish({ state: "lost" });
        if (source.readyState !== EventSource.CLOSED) return;
        interrupted();
        timer = setTimeout(open, RETRY_MS);
      };
      for (const name of names) {
        source.addEventListener(name, (event: MessageEvent<string>) =>
          publish({ event: { name, data: JSON.parse(event.data) } }),
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
