// Tells that the connection to the server is lost, and how old the shown data is.

import { Text } from "@mantine/core";
import { useEffect, useState } from "react";
import type { LiveState } from "../api/live";
import { span } from "../parts/format";
import { useNow } from "../parts/now";

/** The time since which the stream is lost; undefined while it is open. */
export function useLostSince(live: LiveState): number | undefined {
  const [since, setSince] = useState<number>();
  useEffect(() => setSince(live === "lost" ? Date.now() : undefined), [live]);
  return since;
}

export function StaleBanner({ since }: { since: number }) {
  const now = useNow();
  return (
    <div className="stale-banner">
      <Text size="sm">{staleText(since, now)}</Text>
    </div>
  );
}

export function staleText(since: number, now: number): string {
  const age = Math.max(Math.floor((now - since) / 1000), 0) * 1000;
  return `The server does not respond. Live numbers are ${span(age)} old. Reconnecting…`;
}
