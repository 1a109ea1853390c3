// The session: the signed-in user and their scopes.

import {
  type QueryKey,
  queryOptions,
  useMutation,
  useQueryClient,
  useSuspenseQuery,
} from "@tanstack/react-query";
import { api, data, ProblemError, type Schemas, setCsrf } from "./client";

export type Session = Schemas["Session"];
export type Scope = Schemas["Scope"];

/** Null while no user is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async (): Promise<Session | null> => {
    try {
      const session = await data(api.GET("/v1/session"));
      setCsrf(session.csrf);
      return session;
    } catch (thrown) {
      if (ProblemError.from(thrown).status === 401) return null;
      throw thrown;
    }
  },
});

/** Returns the session on pages inside the shell, which require one. */
export function useSession(): Session {
  const { data: session } = useSuspenseQuery(sessionQuery);
  if (!session) throw new ProblemError(401, "signed_out", "You are signed out.");
  return session;
}

export function may(session: Session, scope: Scope): boolean {
  return session.scopes.includes(scope);
}

/** The tenant whose administrators administer the platform. */
const PLATFORM = "platform";

/** The tenant to which the user has to switch for a scope of the platform, if there is one. */
export function tenantWith(session: Session, scope: Scope): string | undefined {
  if (scope !== "platform:*" || may(session, scope)) return undefined;
  const admin = ({ tenant, role }: Schemas["Membership"]) =>
    tenant === PLATFORM && role === "admin";
  return session.tenants?.find(admin)?.tenant;
}

/** Whether a cached answer belongs to the session and is removed when it ends. */
export function isSessionData(query: { queryKey: QueryKey }): boolean {
  return query.queryKey[0] !== sessionQuery.queryKey[0];
}

/** Stores the session that sign-in or a switch of tenant returns, and reads all data again. */
export function useEnter(): (session: Session) => void {
  const queries = useQueryClient();
  return (session) => {
    setCsrf(session.csrf);
    queries.setQueryData(sessionQuery.queryKey, session);
    void queries.resetQueries({ predicate: isSessionData });
  };
}

/** Makes another tenant of the user the current one. */
export function useSwitchTenant() {
  const enter = useEnter();
  return useMutation({
    mutationFn: (tenant: string) => data(api.POST("/v1/session/tenant", { body: { tenant } })),
    onSuccess: enter,
  });
}
