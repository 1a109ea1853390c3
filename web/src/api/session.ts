// The session: the signed-in user and their scopes. All tabs of a browser share it, and with it the
// current tenant.

import {
  type QueryClient,
  type QueryKey,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { createContext, use } from "react";
import { api, csrfToken, data, ProblemError, type Schemas, setCsrf } from "./client";
import { rememberTenant } from "./lastTenant";

export type Session = Schemas["Session"];
export type Scope = Schemas["Scope"];

/** Null while no user is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async (): Promise<Session | null> => {
    try {
      return await data(api.GET("/v1/session"));
    } catch (thrown) {
      if (ProblemError.from(thrown).status === 401) return null;
      throw thrown;
    }
  },
});

/**
 * The session that the shell shows its pages in. A page that read the query itself could render once more, without
 * a session, before the shell has left it.
 */
export const SessionContext = createContext<Session | undefined>(undefined);

/** Returns the session on pages inside the shell, which require one. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error("This page is outside the shell.");
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

/** Tells the other tabs that the session changed. */
const tabs = new BroadcastChannel("assay-session");

/**
 * Keeps the cached answers those of the current session and tenant, whichever tab or call notices that these
 * changed.
 */
export function watchSession(queries: QueryClient): void {
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== "updated") return;
    const { action, query } = event;
    if (action.type === "error") refused(queries, action.error);
    if (action.type === "success" && !isSessionData(query)) entered(queries, query.state.data);
  });
  queries.getMutationCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "error") return;
    if (isOfAnother(event.action.error)) void readSession(queries);
  });
  tabs.onmessage = () => void readSession(queries);
}

export function readSession(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

function refused(queries: QueryClient, thrown: unknown): void {
  // The first call after the end of a session shows the sign-in page.
  if (ProblemError.from(thrown).status === 401) {
    queries.setQueryData(sessionQuery.queryKey, null);
  } else if (isOfAnother(thrown)) {
    void readSession(queries);
  }
}

/** Whether the call was made for a session or tenant that is no longer the current one. */
function isOfAnother(thrown: unknown): boolean {
  return ProblemError.from(thrown).code === "csrf";
}

function entered(queries: QueryClient, session: Session | null): void {
  // Each tenant of each session has a token of its own.
  if (!session || session.csrf === csrfToken()) return;
  setCsrf(session.csrf);
  rememberTenant(session.tenant);
  void queries.resetQueries({ predicate: isSessionData });
}

/** Stores the session that sign-in or a switch of tenant returns. */
export function useEnter(): (session: Session) => Promise<void> {
  const queries = useQueryClient();
  return async (session) => {
    // An answer on its way may be that of the session before.
    await queries.cancelQueries({ queryKey: sessionQuery.queryKey });
    queries.setQueryData(sessionQuery.queryKey, session);
    tabs.postMessage("changed");
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

/** Ends the session. */
export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      try {
        await data(api.DELETE("/v1/session"));
      } catch (thrown) {
        // The session had ended before.
        if (ProblemError.from(thrown).status !== 401) throw thrown;
      }
    },
    onSuccess: async () => {
      await queries.cancelQueries({ queryKey: sessionQuery.queryKey });
      // Mounted components observe the session query, so it is set to null instead of removed.
      queries.setQueryData(sessionQuery.queryKey, null);
      queries.removeQueries({ predicate: isSessionData });
      tabs.postMessage("changed");
    },
  });
}
