// The kinds of incidents in words.

import type { Schemas } from "../api/client";
import type { Tone } from "./Badge";

type Kind = Schemas["IncidentKind"];

export const KINDS: Record<Kind, { label: string; tone: Tone }> = {
  worker_died: { label: "worker died", tone: "bad" },
  worker_killed: { label: "worker killed", tone: "late" },
  worker_start_failed: { label: "worker start failed", tone: "bad" },
  worker_starved: { label: "worker starved", tone: "late" },
  batch_late: { label: "batch late", tone: "late" },
  requests_failed: { label: "requests failed", tone: "bad" },
  trainer_silent: { label: "trainer silent", tone: "late" },
  reward_dropped: { label: "reward dropped", tone: "late" },
  verdicts_changed: { label: "verdicts changed", tone: "late" },
  reward_missing: { label: "reward missing", tone: "bad" },
};

export const KIND_NAMES = Object.keys(KINDS) as Kind[];
