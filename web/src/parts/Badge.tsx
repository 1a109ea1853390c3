// A word on a tint, with a dot in the colour of its meaning. The meaning never depends on the colour alone.

export type Tone = "good" | "bad" | "late" | "waiting" | "mark";

/** Without a tone it is a name of a tenant's, such as a verdict, that is neither good nor bad to us. */
export function Badge({ tone, children }: { tone?: Tone; children: string }) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}

const TONES: Record<string, Tone> = {
  scored: "good",
  timed_out: "late",
  error: "bad",
  announced: "waiting",
  open: "mark",
  sealed: "mark",
  done: "good",
  cancelled: "late",
  expired: "late",
};

const WORDS: Record<string, string> = { timed_out: "timed out", waiting: "in progress" };

/** State of a batch or outcome of a request. */
export function Status({ kind }: { kind: string }) {
  return <Badge tone={TONES[kind] ?? "waiting"}>{WORDS[kind] ?? kind}</Badge>;
}
