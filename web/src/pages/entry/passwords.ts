// The rules for passwords; see PASSWORD_CHARS_MIN and PASSWORD_BYTES_MAX of the server.

const CHARS_MIN = 12;
const BYTES_MAX = 1024;

export function passwordProblem(password: string): string | undefined {
  if ([...password].length < CHARS_MIN) return `Use at least ${CHARS_MIN} characters.`;
  if (new TextEncoder().encode(password).length > BYTES_MAX) return "Use a shorter password.";
  return undefined;
}
