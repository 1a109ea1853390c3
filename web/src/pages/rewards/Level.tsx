// The level of a log line.

import { Badge, type Tone } from "../../parts/Badge";

const TONES: Record<string, Tone> = { error: "bad", warn: "late", stderr: "mark", info: "waiting" };

export function Level({ of }: { of: string }) {
  return <Badge tone={TONES[of] ?? "waiting"}>{of}</Badge>;
}
