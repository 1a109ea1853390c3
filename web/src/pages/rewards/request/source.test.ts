import { expect, it } from "vitest";
import { curlOf, pythonOf } from "./commands";
import { requestOf, shownOf, sourceOf } from "./source";

const LABEL = '{"id":9007199254740993,"share":1.0,"list":[18446744073709551615],"none":{}}';
const ANSWER = `{"id":"b.1","key":"k","prompt":"say \\"label\\": {1}","response":"\\\\","label": ${LABEL},
  "metadata":null,"arrived_at":"2026-01-01T00:00:00Z","context":{"run":"r","iteration":1,
  "plugin":"math@1.0.0","settings":{"seed":-9007199254740993},"spans":[{"label":1}],"artifacts":[]}}`;

it("keeps the numbers of the inputs as the server sent them", () => {
  const request = requestOf(ANSWER);
  expect(request.prompt).toBe('say "label": {1}');
  expect(sourceOf(request, "label")).toBe(LABEL);
  expect(sourceOf(request, "metadata")).toBeUndefined();
  expect(sourceOf(request, "settings")).toBe('{"seed":-9007199254740993}');
  expect(shownOf(request, "settings")).toBe('{\n  "seed": -9007199254740993\n}');
  expect(shownOf(request, "metadata")).toBe("");
  expect(shownOf({ ...request, label: "42" }, "label")).toBe("42");
});

it("copies them unrounded", () => {
  const request = requestOf(ANSWER);
  expect(curlOf(request, "http://a")).toContain(`"label":${LABEL}`);
  expect(curlOf(request, "http://a")).toContain('"settings":{"seed":-9007199254740993}');
  expect(pythonOf(request)).toContain(`label=json.loads(${JSON.stringify(LABEL)}),`);
});

it("writes what is known only as a value", () => {
  const { sources: _, ...request } = requestOf(ANSWER);
  expect(sourceOf({ ...request, label: [1, "a"] }, "label")).toBe('[1,"a"]');
});
