// The button that copies the address of the page with its filters and its tenant, to be sent to others.

import { useSession } from "../api/session";
import { Copy } from "./Copy";

export function CopyLink() {
  const { tenant } = useSession();
  // Without the hash: it may hold a token.
  const { origin, pathname, search } = window.location;
  return <Copy text={`${origin}/in/${tenant}${pathname}${search}`} label="Copy link" />;
}
