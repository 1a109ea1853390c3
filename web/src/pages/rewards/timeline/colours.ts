// The colours of stages, on timelines and wherever else stages stand beside each other.

import { SERIES } from "../../../theme";

/** Not those in which failures, lateness and marks are drawn. */
const PLACES = [0, 7, 4, 6, 5];

export function stageColours(scheme: "light" | "dark"): string[] {
  return PLACES.map((place) => SERIES[scheme][place] ?? "currentColor");
}
