// The pages of the navigation, in groups.

import { may, type Scope, type Session, tenantWith } from "../api/session";
import type { IconName } from "../parts/Icon";

export interface Place {
  to: string;
  label: string;
  icon: IconName;
  /** The right that it needs, if it needs one. */
  scope?: Scope;
}

const GROUPS: { title: string; places: Place[] }[] = [
  {
    title: "Observe",
    places: [
      { to: "/", label: "Overview", icon: "overview", scope: "batches:read" },
      { to: "/runs", label: "Runs", icon: "runs", scope: "batches:read" },
      { to: "/batches", label: "Batches", icon: "batches", scope: "batches:read" },
      { to: "/incidents", label: "Incidents", icon: "incidents", scope: "batches:read" },
    ],
  },
  {
    title: "Build",
    places: [
      { to: "/plugins", label: "Plugins", icon: "plugins", scope: "batches:read" },
      { to: "/simulate", label: "Simulate", icon: "simulate", scope: "batches:read" },
    ],
  },
  {
    title: "Platform",
    places: [
      { to: "/capacity", label: "Capacity", icon: "capacity", scope: "platform:*" },
      { to: "/workers", label: "Workers", icon: "workers", scope: "platform:*" },
      { to: "/admin", label: "Admin", icon: "admin", scope: "admin:*" },
    ],
  },
  { title: "Help", places: [{ to: "/book", label: "Documentation", icon: "book" }] },
];

/**
 * The groups with the pages that the user may open in the current tenant, or in the tenant that
 * administers the platform.
 */
export function placesOf(session: Session): { title: string; places: Place[] }[] {
  const opens = ({ scope }: Place) =>
    !scope || may(session, scope) || tenantWith(session, scope) !== undefined;
  return GROUPS.map(({ title, places }) => ({ title, places: places.filter(opens) })).filter(
    ({ places }) => places.length > 0,
  );
}
