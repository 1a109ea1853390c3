// Icons: strokes on a grid of 24 by 24.

const PATHS = {
  overview: "M3 3h8v8H3z M13 3h8v5h-8z M13 12h8v9h-8z M3 15h8v6H3z",
  runs: "M3 17l6-6 4 4 8-8 M15 7h6v6",
  batches: "M12 3l9 5-9 5-9-5z M3 12l9 5 9-5 M3 16l9 5 9-5",
  incidents: "M12 3l10 18H2z M12 10v5 M12 18v.01",
  plugins: "M8 3v5 M16 3v5 M5 8h14v4a7 7 0 0 1-14 0z M12 19v3",
  simulate: "M5 3h14 M5 21h14 M7 3c0 9 10 9 10 18 M17 3c0 9-10 9-10 18",
  capacity: "M4 20V10 M10 20V4 M16 20v-7 M22 20H2",
  workers: "M4 5h16v6H4z M4 13h16v6H4z M8 8v.01 M8 16v.01",
  admin: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z M9 12l2 2 4-4",
  book: "M4 5a2 2 0 0 1 2-2h14v16H6a2 2 0 0 0-2 2z M4 19V5 M9 8h7",
  table: "M4 5h16v14H4z M4 10h16 M10 10v9",
  chart: "M4 4v16h16 M8 15l4-5 3 3 5-7",
  export: "M12 4v11 M7 11l5 5 5-5 M5 20h14",
  empty: "M4 13l3-8h10l3 8v6H4z M4 13h5l1 3h4l1-3h5",
  copy: "M9 9h11v11H9z M5 15H4V4h11v1",
  done: "M5 13l4 4L19 7",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z M5 20c1-4 4-6 7-6s6 2 7 6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
