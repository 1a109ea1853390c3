// The place to which sign-in returns.

/**
 * Path and query of a location. The hash is left out: it may hold a token, and the query reaches the
 * server and its log.
 */
export function backTo({ pathname, searchStr }: { pathname: string; searchStr: string }): string {
  return pathname + searchStr;
}

/** Whether a path belongs to this dashboard, and not to another site. Browsers drop tabs and line ends from addresses. */
export function isLocal(back: unknown): back is string {
  return typeof back === "string" && /^\/(?![/\\])\P{Cc}*$/u.test(back);
}
