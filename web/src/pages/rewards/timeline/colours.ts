// The colours of stages in all charts.

import { SERIES } from "../../../theme";

/** Excludes the colours of failures, lateness and marks. */
const SERIES_INDEXES = [0, 7, 4, 6, 5];

export function stageColours(scheme: "light" | "dark"): string[] {
  return SERIES_INDEXES.map((index) => SERIES[scheme][index] ?? "currentColor");
}
