// The cache of the server's answers, and when its calls are made and repeated.

import { onlineManager, QueryClient } from "@tanstack/react-query";
import { ProblemError } from "./client";

const RETRIES_MAX = 5;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A call without a network fails instead of waiting unseen. The server may be on this computer.
        networkMode: "always",
        // This mode turns it off by itself.
        refetchOnReconnect: true,
        // A refusal is final; a call that did not reach the server is repeated, unless there is no network.
        retry: (failures, thrown) =>
          ProblemError.from(thrown).status === 0 &&
          onlineManager.isOnline() &&
          failures < RETRIES_MAX,
      },
      // A change that waited for the network would be made later, when nobody expects it.
      mutations: { networkMode: "always" },
    },
  });
}
