// Who may acknowledge an incident, and whether those like it are muted.

import type { Schemas } from "../../../api/client";
import type { Session } from "../../../api/session";

/** Incidents of the platform and of other tenants are for administrators of the platform. */
export function mayAcknowledge(
  { scopes, tenant }: Pick<Session, "scopes" | "tenant">,
  incident: Pick<Schemas["Incident"], "tenant">,
): boolean {
  if (!scopes.includes("batches:write")) return false;
  return incident.tenant === tenant || scopes.includes("platform:*");
}

export function isMuted({ until }: Pick<Schemas["Acknowledgement"], "until">, now: number) {
  return Date.parse(until) > now;
}
