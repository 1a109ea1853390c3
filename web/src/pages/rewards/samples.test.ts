import { expect, it } from "vitest";
import { samplesUrl } from "./samples";

it("names a run by any text, and a batch of it", () => {
  expect(samplesUrl("a/b ?", undefined, { format: "csv", texts: true })).toBe(
    "/v1/runs/a%2Fb%20%3F/samples?format=csv",
  );
  expect(samplesUrl("run", "1-2", { format: "jsonl", texts: false })).toBe(
    "/v1/runs/run/samples?format=jsonl&batch=1-2&texts=false",
  );
});
