// The level of a log line.

import { Dot, type Tone } from "../../parts/Dot";

const TONES: Record<string, Tone> = { error: "bad", warn: "late", stderr: "mark", info: "good" };

export function Level({ of }: { of: string }) {
  return <Dot tone={TONES[of] ?? "waiting"}>{of}</Dot>;
}
