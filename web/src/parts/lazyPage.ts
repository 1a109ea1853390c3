// Loads the code of a page when it is first opened. A server that is down for a moment must not cost
// the tab: the import is repeated until the server answers.

import { lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { ProblemError } from "../api/client";

/** The browser, as far as loading needs it. */
export interface Surroundings {
  /** Whether the server answers with the page of the dashboard. */
  answers: () => Promise<boolean>;
  pause: (ms: number) => Promise<void>;
  /** Loads the whole dashboard again; false if that was done a moment ago. */
  reload: () => boolean;
}

const PAGE_UNAVAILABLE = "page_unavailable";
const PAUSES_MS = [250, 500, 1_000, 2_000];
const RELOAD_AGAIN_MS = 30_000;
const RELOADED_AT = "assay-reloaded-at";

const BROWSER: Surroundings = {
  answers: async () => {
    try {
      return (await fetch("/", { cache: "no-store" })).ok;
    } catch {
      return false;
    }
  },
  pause: (ms) => new Promise((done) => setTimeout(done, ms)),
  reload: () => {
    const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
    if (Date.now() - last < RELOAD_AGAIN_MS) return false;
    sessionStorage.setItem(RELOADED_AT, String(Date.now()));
    window.location.reload();
    return true;
  },
};

/**
 * Repeats an import that failed once the server answers again. If it fails even then, a new release
 * has replaced the file or the browser remembers the failure, and only a reload helps.
 */
export async function loadPatiently<T>(
  load: () => Promise<T>,
  { answers, pause, reload }: Surroundings = BROWSER,
): Promise<T> {
  try {
    return await load();
  } catch {
    for (let tries = 0; !(await answers()); tries += 1) {
      await pause(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0);
    }
  }
  try {
    return await load();
  } catch {
    // The promise of a page that is being replaced never resolves.
    if (reload()) return new Promise(() => undefined);
    const hint = "Reload the dashboard. If that does not help, ask the operator of the server.";
    throw new ProblemError(0, PAGE_UNAVAILABLE, "The code of this page did not load.", hint);
  }
}

/** Whether the code of a page did not load, for which only a reload of the dashboard helps. */
export function isPageUnavailable(thrown: unknown): boolean {
  return ProblemError.from(thrown).code === PAGE_UNAVAILABLE;
}

/** The component of a route, whose code is loaded with its first visit. */
export function lazyPage<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
) {
  return lazyRouteComponent(() => loadPatiently(load), name);
}
