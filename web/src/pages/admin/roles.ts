// What members may do.

import type { Role } from "./queries";

/** Each may do what those before it may. */
export const ROLES: { role: Role; may: string }[] = [
  { role: "viewer", may: "sees everything of the tenant" },
  { role: "trainer", may: "also submits batches" },
  { role: "publisher", may: "also publishes and promotes plugins" },
  { role: "admin", may: "also administers members, keys and quotas" },
];

export function roleOf(text: string): Role {
  return ROLES.find(({ role }) => role === text)?.role ?? "viewer";
}
