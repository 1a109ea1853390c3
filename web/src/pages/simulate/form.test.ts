import { expect, it } from "vitest";
import { ProblemError } from "../../api/client";
import { fieldErrors } from "../../parts/fields";
import {
  PATHS,
  pluginName,
  requestOf,
  simulateSearch,
  workerProblems,
  workersOf,
  workersText,
} from "./form";

it("writes and reads workers by pool in the URL", () => {
  expect(workersText({ cpu: 4, gpu: "", huge: "12" })).toBe("cpu:4,huge:12");
  expect(workersText({ cpu: "" })).toBeUndefined();
  expect(workersOf("cpu:4,gpu:x,:3,huge:12,odd,half:1.5")).toEqual({ cpu: 4, huge: 12 });
});

it("ignores invalid URL parameters", () => {
  expect(simulateSearch({ batch: "b", policy: "magic", tolerance: -1, workers: "cpu" })).toEqual({
    batch: "b",
  });
  expect(simulateSearch({ run: 7, policy: "zq", tolerance: 500, workers: "cpu:2" })).toEqual({
    run: "7",
    policy: "zq",
    tolerance: 500,
    workers: "cpu:2",
  });
});

it("requests a batch, or else a run, with the given limits", () => {
  expect(requestOf({ batch: "b", run: "r" })).toEqual({
    batch: "b",
    policy: "assay",
    pools_max: {},
  });
  expect(requestOf({ run: "r", policy: "fixed", tolerance: 0, workers: "cpu:2" })).toEqual({
    run: "r",
    policy: "fixed",
    pools_max: { cpu: 2 },
    tolerance_ms: 0,
  });
});

it("finds the field of a refusal, and a limit of no workers before it is sent", () => {
  const errors = (detail: string, field?: string) =>
    fieldErrors(new ProblemError(422, "code", detail, undefined, field), PATHS);
  expect(errors("pool gpu may have 4096 workers at most", "pools_max.gpu")).toEqual({
    "workers.gpu": "Pool gpu may have 4096 workers at most",
  });
  expect(errors("the trace has no batch")).toEqual({});
  expect(Object.keys(workerProblems({ cpu: 0, gpu: "", huge: 4 }))).toEqual(["workers.cpu"]);
});

it("reduces a plugin reference to its name", () => {
  expect(["math@1.0.0", "team/cuda@prod", "code"].map(pluginName)).toEqual([
    "math",
    "cuda",
    "code",
  ]);
});
