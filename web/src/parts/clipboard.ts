// The clipboard. Browsers offer `navigator.clipboard` only to secure origins (https and this computer); on pages of
// plain HTTP the text is selected and copied by the browser's command.

import { useEffect, useRef, useState } from "react";

/** Copies a text; false if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  // Absent on pages of plain HTTP, whatever the type says.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard) {
    try {
      await clipboard.writeText(text);
      return true;
    } catch {
      // The permission may be denied; the command needs none.
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const before = rangesOf(document.getSelection());
  const copied = document.createElement("span");
  copied.textContent = text;
  copied.ariaHidden = "true";
  Object.assign(copied.style, {
    position: "fixed",
    top: "0",
    clipPath: "inset(50%)",
    whiteSpace: "pre",
  });
  // The selection alone would lose spaces, and add styles.
  const write = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    event.clipboardData?.setData("text/plain", text);
  };
  copied.addEventListener("copy", write);
  document.body.append(copied);
  try {
    const range = document.createRange();
    range.selectNodeContents(copied);
    select([range]);
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    copied.remove();
    select(before);
  }
}

function rangesOf(selection: Selection | null): Range[] {
  return Array.from({ length: selection?.rangeCount ?? 0 }, (_, at) =>
    selection?.getRangeAt(at),
  ).filter((range) => range !== undefined);
}

function select(ranges: readonly Range[]): void {
  const selection = document.getSelection();
  selection?.removeAllRanges();
  for (const range of ranges) selection?.addRange(range);
}

const TOLD_MS = 1_000;

/** What a button that copies shows. A failure stays until the next attempt. */
export type Copying = "ready" | "copied" | "failed";

export function useCopy(text: string): { state: Copying; copy: () => void } {
  const [state, setState] = useState<Copying>("ready");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    clearTimeout(timer.current);
    const done = await copyText(text);
    setState(done ? "copied" : "failed");
    if (done) timer.current = setTimeout(() => setState("ready"), TOLD_MS);
  };
  return { state, copy: () => void copy() };
}
