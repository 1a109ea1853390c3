// Addresses of the samples of a run as files.

interface SampleFile {
  label: string;
  format: "csv" | "jsonl" | "parquet";
  texts: boolean;
}

export const FILES: readonly SampleFile[] = [
  { label: "CSV", format: "csv", texts: true },
  { label: "CSV without texts", format: "csv", texts: false },
  { label: "JSON Lines", format: "jsonl", texts: true },
  { label: "JSON Lines without texts", format: "jsonl", texts: false },
  { label: "Parquet", format: "parquet", texts: true },
  { label: "Parquet without texts", format: "parquet", texts: false },
];

/** Path of the file, within the dashboard's own server. */
export function samplesUrl(
  run: string,
  batch: string | undefined,
  { format, texts }: Pick<SampleFile, "format" | "texts">,
): string {
  const query = new URLSearchParams({ format, ...(batch ? { batch } : {}) });
  if (!texts) query.set("texts", "false");
  return `/v1/runs/${encodeURIComponent(run)}/samples?${query}`;
}
