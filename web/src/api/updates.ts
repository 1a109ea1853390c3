// What the stream of events changes in what has been read.

import type { QueryClient } from "@tanstack/react-query";
import { type LiveEvent, type LiveState, useLiveStream } from "./live";

const NAMES = ["snapshot"] as const;

export function useLive(tenant: string): LiveState {
  return useLiveStream(tenant, NAMES, apply);
}

function apply(_queries: QueryClient, _event: LiveEvent): void {}
