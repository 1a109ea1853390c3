// The fields in which two JSON values differ.

export interface Difference {
  /** Path of the field, such as `quotas.workers_max.cpu`; empty for the whole value. */
  path: string;
  before: string | undefined;
  after: string | undefined;
}

/** Lists differences by path. Lists are compared as whole values. */
export function differences(before: unknown, after: unknown): Difference[] {
  const previous = leaves(before);
  const current = leaves(after);
  const paths = [...new Set([...previous.keys(), ...current.keys()])].sort();
  return paths
    .map((path) => ({ path, before: previous.get(path), after: current.get(path) }))
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
