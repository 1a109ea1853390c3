// The page that a link of a tenant opens.

import { isLocal } from "./back";

/** Path and query without the tenant's part; the overview where the rest could lead to another site. */
export function pageIn(tenant: string, link: string): string {
  const page = link.slice(`/in/${tenant}`.length);
  return isLocal(page) ? page : "/";
}
