import { afterEach, expect, it, vi } from "vitest";
import { copyText } from "./clipboard";

afterEach(() => vi.unstubAllGlobals());

/** A page whose browser copies by the command, as plain HTTP has it; returns what was copied. */
function plainPage(allows: boolean) {
  const page = { copied: "", left: 0 };
  let written: ((event: unknown) => void) | undefined;
  const element = {
    style: {},
    addEventListener: (_: string, listener: typeof written) => {
      written = listener;
    },
    remove: () => {
      page.left -= 1;
    },
  };
  vi.stubGlobal("navigator", {});
  vi.stubGlobal("document", {
    createElement: () => element,
    createRange: () => ({ selectNodeContents: () => undefined }),
    getSelection: () => null,
    body: {
      append: () => {
        page.left += 1;
      },
    },
    execCommand: () => {
      const setData = (_: string, text: string) => {
        page.copied = text;
      };
      const event = { preventDefault() {}, stopPropagation() {}, clipboardData: { setData } };
      if (allows) written?.(event);
      return allows;
    },
  });
  return page;
}

it("copies without a secure origin, and leaves nothing in the page", async () => {
  const page = plainPage(true);
  expect(await copyText("a  secret\n")).toBe(true);
  expect(page).toEqual({ copied: "a  secret\n", left: 0 });
});

it("says where nothing was copied", async () => {
  const page = plainPage(false);
  expect(await copyText("a secret")).toBe(false);
  expect(page).toEqual({ copied: "", left: 0 });
});

it("uses the clipboard of a secure origin, and the command where its permission is denied", async () => {
  const page = plainPage(true);
  const writeText = vi.fn(async () => undefined);
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  expect(await copyText("a secret")).toBe(true);
  expect(writeText).toHaveBeenCalledWith("a secret");
  expect(page.copied).toBe("");
  writeText.mockRejectedValue(new DOMException("denied", "NotAllowedError"));
  expect(await copyText("a secret")).toBe(true);
  expect(page.copied).toBe("a secret");
});
