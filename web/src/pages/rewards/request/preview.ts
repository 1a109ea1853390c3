// Bytes of tenants as text to look at: bounded, and nothing but text.

const SHOWN_BYTES_MAX = 64 * 1024;

export function looksLikeText(contentType: string): boolean {
  return /^text\/|json|xml|yaml|toml|x-ndjson/.test(contentType);
}

export function textOf(bytes: ArrayBuffer): { text: string; cut: boolean } {
  const cut = bytes.byteLength > SHOWN_BYTES_MAX;
  // What is no UTF-8 shows as such instead of failing; a character that is cut is left out.
  const text = new TextDecoder().decode(bytes.slice(0, SHOWN_BYTES_MAX), { stream: cut });
  return { text, cut };
}
