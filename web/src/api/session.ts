// Who is signed in, and what that opens.

import {
  type QueryKey,
  queryOptions,
  useQueryClient,
  useSuspenseQuery,
} from "@tanstack/react-query";
import { api, data, ProblemError, type Schemas, setCsrf } from "./client";

export type Session = Schemas["Session"];
export type Scope = Schemas["Scope"];

/** Null where nobody is signed in. */
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

/** Inside the shell, where somebody always is. */
export function useSession(): Session {
  const { data: session } = useSuspenseQuery(sessionQuery);
  if (!session) throw new ProblemError(401, "signed_out", "You are signed out.");
  return session;
}

export function may(session: Session, scope: Scope): boolean {
  return session.scopes.includes(scope);
}

/** Of what has been read, all that belongs to whoever was signed in. */
export function isAnothers(query: { queryKey: QueryKey }): boolean {
  return query.queryKey[0] !== sessionQuery.queryKey[0];
}

/** Takes what signing in or switching answered; all that was read before is read anew. */
export function useEnter(): (session: Session) => void {
  const queries = useQueryClient();
  return (session) => {
    setCsrf(session.csrf);
    queries.setQueryData(sessionQuery.queryKey, session);
    void queries.resetQueries({ predicate: isAnothers });
  };
}
