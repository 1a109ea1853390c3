// What an act changed, as the places in which two JSON values differ.

export interface Difference {
  /** Such as `quotas.workers_max.cpu`; empty for the value as a whole. */
  path: string;
  before: string | undefined;
  after: string | undefined;
}

/** In the order of their names; lists are compared as a whole. */
export function differences(before: unknown, after: unknown): Difference[] {
  const old = leaves(before);
  const young = leaves(after);
  const paths = [...new Set([...old.keys(), ...young.keys()])].sort();
  return paths
    .map((path) => ({ path, before: old.get(path), after: young.get(path) }))
    .filter((place) => place.before !== place.after);
}

function leaves(value: unknown): Map<string, string> {
  const found = new Map<string, string>();
  gather(value, "", found);
  return found;
}

function gather(value: unknown, path: string, found: Map<string, string>) {
  if (value === null || value === undefined) return;
  if (typeof value === "object" && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) {
      gather(inner, path ? `${path}.${name}` : name, found);
    }
    return;
  }
  found.set(path, Array.isArray(value) ? value.map(plain).join(", ") || "none" : plain(value));
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
