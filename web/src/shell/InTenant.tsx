// The page of a link: it becomes the current page once the tenant that the link names is the current one.

import { getRouteApi, useLocation, useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useSession, useSwitchTenant } from "../api/session";
import { Empty, Failed, Loading } from "../parts/states";
import { backTo } from "./back";
import { pageIn } from "./pageIn";

const route = getRouteApi("/shell/in/$tenant/$");

export function InTenant() {
  const { tenant } = route.useParams();
  const session = useSession();
  const location = useLocation();
  // Read once: the location becomes that of the page before this one has left.
  const [page] = useState(() => pageIn(tenant, backTo(location)));
  const { history } = useRouter();
  const { mutate, error } = useSwitchTenant();
  const isThere = session.tenant === tenant;
  const isMember = isThere || (session.tenants ?? []).some((mine) => mine.tenant === tenant);
  useEffect(() => {
    if (isThere) history.replace(page);
    else if (isMember) mutate(tenant);
  }, [isThere, isMember, history, page, mutate, tenant]);
  if (!isMember) {
    return (
      <Empty title={`You are not a member of ${tenant}`}>
        This link opens a page of that tenant. Ask its administrators to invite you.
      </Empty>
    );
  }
  if (error) return <Failed thrown={error} retry={() => mutate(tenant)} />;
  return <Loading what={tenant} height={320} />;
}
