import { expect, it } from "vitest";
import { ProblemError } from "../api/client";
import { markup } from "./markup";
import { Failed } from "./states";

const failed = (status: number) =>
  markup(<Failed thrown={new ProblemError(status, "code", "it failed")} retry={() => undefined} />);

it("offers to try again only where that can help", () => {
  for (const status of [0, 429, 503]) expect(failed(status)).toContain("Try again");
  for (const status of [400, 403, 404, 409]) expect(failed(status)).not.toContain("Try again");
});
