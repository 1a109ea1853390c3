// The only client of the REST API: typed by the server's OpenAPI document, with errors as problems.

import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** A refusal of the server (RFC 9457), or the reason why it was not reached. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  /** Member of the body that is at fault, such as `quotas.workers_max.cpu`. */
  readonly field: string | undefined;

  constructor(
    status: number,
    code: string,
    detail: string,
    hint?: string | null,
    field?: string | null,
  ) {
    super(detail);
    this.name = "ProblemError";
    this.status = status;
    this.code = code;
    this.hint = hint ?? undefined;
    this.field = field ?? undefined;
  }

  /** Converts any thrown value. */
  static from(thrown: unknown): ProblemError {
    if (thrown instanceof ProblemError) return thrown;
    if (thrown instanceof TypeError) {
      const hint =
        "Check that the server is running and that this computer is online. The page retries by itself.";
      return new ProblemError(0, "unreachable", "The server is not responding.", hint);
    }
    return new ProblemError(
      0,
      "unexpected",
      thrown instanceof Error ? thrown.message : `${thrown}`,
    );
  }
}

let csrf: string | undefined;

/** Stores the token of the session. The client sends it with every change. */
export function setCsrf(token: string | null | undefined): void {
  csrf = token ?? undefined;
}

/** Returns the token for calls that do not go through `api`. */
export function csrfToken(): string | undefined {
  return csrf;
}

const SAFE = new Set(["GET", "HEAD"]);

const middleware: Middleware = {
  onRequest({ request }) {
    if (csrf && !SAFE.has(request.method)) request.headers.set("X-Assay-Csrf", csrf);
    return request;
  },
  async onResponse({ response }) {
    if (response.ok) return response;
    throw problemOf(response.status, await response.text());
  },
};

/** The server's text is for those who write the calls. */
const OF_ANOTHER = "The session or its tenant was changed in another window.";
const OF_ANOTHER_HINT = "Nothing was done. Check the tenant at the top left, then try again.";

/** The refusal that the body of an answer describes. */
export function problemOf(status: number, text: string): ProblemError {
  try {
    const { code, detail, hint, field } = JSON.parse(text) as Schemas["Problem"];
    if (code === "csrf") return new ProblemError(status, code, OF_ANOTHER, OF_ANOTHER_HINT);
    return new ProblemError(status, code, detail, hint, field);
  } catch {
    return new ProblemError(status, "unexpected", `The server answered ${status}.`);
  }
}

// Unit tests have no window.
const baseUrl = typeof window === "undefined" ? "" : window.location.origin;

export const api = createClient<paths>({ baseUrl });
api.use(middleware);

/** Returns the answer of a call: `const batch = await data(api.GET(...))`. Throws on a refusal. */
export async function data<T>(call: Promise<{ data?: T; response: Response }>): Promise<T> {
  const answer = await call;
  return answer.data as T;
}
