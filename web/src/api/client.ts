// The one way to the REST interface: typed by the server's own document, errors as problems.

import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** What the server refuses with (RFC 9457), or what kept it from being asked. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(status: number, code: string, detail: string, hint?: string | null) {
    super(detail);
    this.name = "ProblemError";
    this.status = status;
    this.code = code;
    this.hint = hint ?? undefined;
  }

  /** Of whatever was thrown. */
  static from(thrown: unknown): ProblemError {
    if (thrown instanceof ProblemError) return thrown;
    if (thrown instanceof TypeError) {
      const hint = "Is it running, and this machine connected? The page tries again by itself.";
      return new ProblemError(0, "unreachable", "The server does not answer.", hint);
    }
    return new ProblemError(
      0,
      "unexpected",
      thrown instanceof Error ? thrown.message : `${thrown}`,
    );
  }
}

let csrf: string | undefined;

/** From the session, and sent back with everything that changes something. */
export function setCsrf(token: string | null | undefined): void {
  csrf = token ?? undefined;
}

/** For what is sent in another way than by `api`. */
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
    throw await problemOf(response);
  },
};

async function problemOf(response: Response): Promise<ProblemError> {
  try {
    const { code, detail, hint } = (await response.json()) as Schemas["Problem"];
    return new ProblemError(response.status, code, detail, hint);
  } catch {
    const detail = `The server answered ${response.status} ${response.statusText}.`;
    return new ProblemError(response.status, "unexpected", detail);
  }
}

export const api = createClient<paths>({ baseUrl: window.location.origin });
api.use(middleware);

/** What a call answered: `const batch = await data(api.GET(...))`. Refusals are thrown. */
export async function data<T>(call: Promise<{ data?: T; response: Response }>): Promise<T> {
  const answer = await call;
  return answer.data as T;
}
