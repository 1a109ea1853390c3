// The course of a number as a small line without axes.

const WIDTH = 120;
const HEIGHT = 24;

export function Sparkline({
  values,
  label,
}: {
  values: readonly (number | null)[];
  label: string;
}) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const low = Math.min(...known);
  const range = Math.max(...known) - low || 1;
  const across = WIDTH / (values.length - 1);
  const points = values.flatMap((value, at) =>
    value === null
      ? []
      : [
          `${(at * across).toFixed(1)},${(HEIGHT - 2 - ((value - low) / range) * (HEIGHT - 4)).toFixed(1)}`,
        ],
  );
  return (
    <svg
      className="spark"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <polyline points={points.join(" ")} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
