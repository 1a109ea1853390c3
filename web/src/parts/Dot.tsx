// A word with a coloured dot. The meaning never depends on the colour alone.

import { Group, Text } from "@mantine/core";

export type Tone = "good" | "bad" | "late" | "waiting" | "mark";

export function Dot({ tone, children }: { tone: Tone; children: string }) {
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex">
      <span
        aria-hidden
        style={{
          width: 8,
          height: 8,
          borderRadius: 4,
          flex: "none",
          background: `var(--assay-${tone})`,
        }}
      />
      <Text span size="sm" className="word">
        {children}
      </Text>
    </Group>
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
  return <Dot tone={TONES[kind] ?? "waiting"}>{WORDS[kind] ?? kind}</Dot>;
}
