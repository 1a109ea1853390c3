// Converts artifact bytes to a bounded text preview.

const SHOWN_BYTES_MAX = 64 * 1024;

export function looksLikeText(contentType: string): boolean {
  return /^text\/|json|xml|yaml|toml|x-ndjson/.test(contentType);
}

export function textOf(bytes: ArrayBuffer): { text: string; cut: boolean } {
  const cut = bytes.byteLength > SHOWN_BYTES_MAX;
  // Invalid UTF-8 becomes replacement characters. A character cut at the end is left out.
  const text = new TextDecoder().decode(bytes.slice(0, SHOWN_BYTES_MAX), { stream: cut });
  return { text, cut };
}
