import { expect, it } from "vitest";
import { markup } from "../../parts/markup";
import { RollBack } from "./RollBack";

const prod = { channel: "prod", version: "0.2.0", promoted_at: "2026-01-01T00:00:00Z" };

it("is disabled with its reason where nothing is before the version", () => {
  const html = markup(<RollBack name="math" channel={prod} />);
  expect(html).toContain('aria-disabled="true"');
  expect(html).toContain("prod has no earlier version that is not yanked.");
});

it("can be used where a version is before it", () => {
  const html = markup(<RollBack name="math" channel={{ ...prod, rolls_back_to: "0.1.0" }} />);
  expect(html).toContain('aria-label="Roll back prod: math"');
  expect(html).not.toContain("aria-disabled");
});
