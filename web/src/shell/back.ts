// The place to which sign-in returns.

/**
 * Path and query of a location. The hash is left out: it may hold a token, and the query reaches the
 * server and its log.
 */
export function backTo({ pathname, searchStr }: { pathname: string; searchStr: string }): string {
  return pathname + searchStr;
}
