import { expect, it } from "vitest";
import { whileVisible } from "./live";

it("reads while the page is visible, once, and no more after it is left", () => {
  const page = Object.assign(new EventTarget(), { visibilityState: "hidden" as const });
  const show = (visibilityState: DocumentVisibilityState) => {
    Object.assign(page, { visibilityState });
    page.dispatchEvent(new Event("visibilitychange"));
  };
  const left = new AbortController();
  const started: AbortSignal[] = [];
  const open = () => started.map(({ aborted }) => !aborted);
  whileVisible(page, left.signal, (shown) => started.push(shown));
  expect(open()).toEqual([]);
  show("visible");
  show("visible");
  expect(open()).toEqual([true]);
  show("hidden");
  expect(open()).toEqual([false]);
  show("visible");
  expect(open()).toEqual([false, true]);
  left.abort();
  show("visible");
  expect(open()).toEqual([false, false]);
});
