import { expect, it } from "vitest";
import { markup } from "./markup";
import { Name } from "./Name";

it("keeps the direction of its text to itself, and the whole name in the tooltip", () => {
  const html = markup(<Name text={"live-\u202elive"} />);
  expect(html).toContain("<bdi");
  expect(html).toContain("live-⟨U+202E⟩live</bdi>");
});
