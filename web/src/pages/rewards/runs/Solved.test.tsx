import { expect, it } from "vitest";
import { markup } from "../../../parts/markup";
import type { Common } from "./common";
import type { Iterations } from "./fold";
import { Promotions } from "./Promotions";
import { Solved } from "./Solved";

const common: Common = { x: [0], xLabel: "iteration" };
const iterations = (part: Partial<Iterations>) =>
  ({ pass_at: [{}], solve_rates: [null], ...part }) as Iterations;

it("has no chart of pass@k where no batch has groups", () => {
  const html = markup(<Solved iterations={iterations({})} common={common} name={String} />);
  expect(html).toBe(markup(null));
});

it("has pass@k, and prompts by solve rate where they are known", () => {
  const solved = iterations({ pass_at: [{ "1": 0.5 }] });
  const only = markup(<Solved iterations={solved} common={common} name={String} />);
  expect(only).toContain("pass@1 by iteration");
  expect(only).not.toContain("Prompts by solve rate");
  const both = { ...solved, solve_rates: [{ from: 0, to: 1, counts: [1, 3] }] };
  const html = markup(<Solved iterations={both} common={common} name={String} />);
  expect(html).toContain("Prompts by solve rate and iteration");
});

it("lists the latest promotion first, with control characters shown", () => {
  const at = "2026-01-01T00:00:00Z";
  const html = markup(
    <Promotions
      promotions={[
        { at, channel: "prod", version: "0.1.0", rollback: false },
        { at, channel: "a\u202eb", version: "0.2.0", before: "0.1.0", rollback: true },
      ]}
    />,
  );
  expect(html.indexOf(">rollback<")).toBeGreaterThan(0);
  expect(html.indexOf(">rollback<")).toBeLessThan(html.indexOf(">promotion<"));
  expect(html).not.toContain(">a\u202eb");
  expect(markup(<Promotions promotions={[]} />)).toBe(markup(null));
});
