// The address of the page with its filters, to be sent to others. The hash is left out: it may hold a token.

export function permalink(): string {
  const { origin, pathname, search } = window.location;
  return origin + pathname + search;
}
