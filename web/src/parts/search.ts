// Parses values of the URL query; invalid values are ignored.

type Search = Record<string, unknown>;

/** Reads a text. The router parses `7` as a number, but a name may be a number. */
export function textOf(search: Search, name: string): string | undefined {
  const value = search[name];
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function wholeOf(search: Search, name: string): number | undefined {
  const value = search[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Removes undefined values, so that they do not appear in the URL. */
export function present<T extends object>(
  search: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
