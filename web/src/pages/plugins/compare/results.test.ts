import { expect, it } from "vitest";
import { type Compared, changeOf, confusionOf, histogramOf, meansOf, type Sample } from "./results";

type Outcome = Compared["replay"]["recorded"]["outcome"];

const scored = (verdict: string, reward: number): Outcome => ({
  kind: "scored",
  verdict,
  reward,
  components: {},
});
const failed: Outcome = {
  kind: "error",
  code: "plugin_trap",
  message: "",
  attempts: 1,
  retryable: false,
};

function compared(before: Outcome, after: Outcome): Compared {
  const side = (outcome: Outcome) => ({
    id: "b.0",
    outcome,
    plugin: "p@1",
    plugin_digest: "",
    stages: [],
  });
  const replay = {
    agrees: false,
    differences: [],
    recorded: side(before),
    replayed: side(after),
    request: "b.0",
  };
  return { sample: {} as Sample, replay };
}

const RESULTS = [
  compared(scored("right", 1), scored("right", 1)),
  compared(scored("right", 1), scored("wrong", 0)),
  compared(scored("wrong", 0), scored("partial", 0.5)),
  compared(scored("wrong", 0), failed),
];

it("counts verdicts before and after", () => {
  const { verdicts, counts } = confusionOf(RESULTS);
  expect(verdicts).toEqual(["right", "wrong", "partial", "plugin_trap"]);
  expect(counts.get("right")).toEqual(
    new Map([
      ["right", 1],
      ["wrong", 1],
    ]),
  );
  expect(counts.get("wrong")?.get("plugin_trap")).toBe(1);
});

it("never counts an error as a reward", () => {
  expect(RESULTS.map(changeOf)).toEqual([0, -1, 0.5, null]);
  expect(meansOf(RESULTS)).toEqual({ before: 2 / 3, after: 0.5 });
  expect(meansOf(RESULTS.slice(3))).toBe(null);
});

it("bins changes of either sign apart, and leaves out what is equal", () => {
  expect(histogramOf([0, 0])).toBe(null);
  const histogram = histogramOf([0, -1, 0.5, 0.5], 5);
  expect(histogram?.counts).toEqual([1, 0, 0, 2, 0]);
  expect(histogram?.from).toBeCloseTo(-1.25);
});
