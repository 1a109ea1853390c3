// Round tick values of a time axis, and lanes for labels that must not overlap.

const STEPS_MS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000,
  20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000,
  21_600_000, 43_200_000, 86_400_000,
];

/** At most `most` multiples of a round step. */
export function ticks(fromMs: number, toMs: number, most: number): number[] {
  const fits = (step: number) => (toMs - fromMs) / step <= most - 1;
  const day = STEPS_MS[STEPS_MS.length - 1] ?? 1;
  const step = STEPS_MS.find(fits) ?? Math.ceil((toMs - fromMs) / (most - 1) / day) * day;
  const first = Math.ceil(fromMs / step - 1e-9);
  const places: number[] = [];
  for (let at = first; at * step <= toMs + step * 1e-9; at += 1) places.push(at * step);
  return places;
}

/**
 * The lowest lane in which each label does not overlap the previous ones. Labels are ordered by x.
 */
export function lanes(labels: readonly { x: number; width: number }[], gap: number): number[] {
  const ends: number[] = [];
  return labels.map(({ x, width }) => {
    let lane = ends.findIndex((end) => end + gap <= x);
    if (lane < 0) lane = ends.length;
    ends[lane] = x + width;
    return lane;
  });
}
