// Reads what stands in an address's query; what makes no sense is left out.

type Search = Record<string, unknown>;

/** The router reads `7` as a number; a name may look like one. */
export function textOf(search: Search, name: string): string | undefined {
  const value = search[name];
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function wholeOf(search: Search, name: string): number | undefined {
  const value = search[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Without what is undefined, so that it does not stand in the address. */
export function present<T extends object>(
  search: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
