// Roles of members.

import type { Role } from "./queries";

/** Ordered: each role includes the rights of those before it. */
export const ROLES: { role: Role; may: string }[] = [
  { role: "viewer", may: "can view everything in the tenant" },
  { role: "trainer", may: "can also submit batches" },
  { role: "publisher", may: "can also publish and promote plugins" },
  { role: "admin", may: "can also administer members, keys and quotas" },
];

export function roleOf(text: string): Role {
  return ROLES.find(({ role }) => role === text)?.role ?? "viewer";
}
