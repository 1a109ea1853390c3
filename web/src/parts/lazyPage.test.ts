import { expect, it } from "vitest";
import { loadPatiently, type Surroundings } from "./lazyPage";

/** A server that is down for the first `down` questions, and what was done meanwhile. */
function surroundings(down: number, mayReload = true) {
  const done = { questions: 0, pauses: [] as number[], reloads: 0 };
  const all: Surroundings = {
    answers: async () => {
      done.questions += 1;
      return done.questions > down;
    },
    pause: async (ms) => {
      done.pauses.push(ms);
    },
    reload: () => {
      done.reloads += 1;
      return mayReload;
    },
  };
  return { all, done };
}

/** An import that fails as often as told. */
function failing(times: number) {
  let left = times;
  return async () => {
    if (left > 0) {
      left -= 1;
      throw new TypeError("Failed to fetch dynamically imported module");
    }
    return "page";
  };
}

it("loads at once if it can", async () => {
  const { all, done } = surroundings(0);
  expect(await loadPatiently(failing(0), all)).toBe("page");
  expect(done).toEqual({ questions: 0, pauses: [], reloads: 0 });
});

it("waits for the server with growing pauses, and never reloads while it is down", async () => {
  const { all, done } = surroundings(6);
  expect(await loadPatiently(failing(1), all)).toBe("page");
  expect(done.pauses).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000]);
  expect(done.reloads).toBe(0);
});

it("reloads when the server answers but the file is gone", async () => {
  const { all, done } = surroundings(0);
  const never = loadPatiently(failing(2), all).then(() => "resolved");
  const soon = new Promise((later) => setImmediate(() => later("pending")));
  expect(await Promise.race([never, soon])).toBe("pending");
  expect(done.reloads).toBe(1);
});

it("reports a file that a reload did not bring", async () => {
  const { all } = surroundings(0, false);
  await expect(loadPatiently(failing(2), all)).rejects.toMatchObject({ code: "page_unavailable" });
});
