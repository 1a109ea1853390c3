// A click anywhere in a row of a table opens what the row is about, as the link or button of its own does.

import type { MouseEvent } from "react";

/** Elements that have a click of their own. */
const OWN = "a, button, input, label, select, textarea";

/**
 * Passes a click on to the link or button in the cell that is marked with `data-opens`, with the keys that open a
 * link in another tab. A click that selects text is none.
 */
export function openRow(event: MouseEvent<HTMLElement>): void {
  const target = event.target as Element;
  if (target.closest(OWN) || window.getSelection()?.toString()) return;
  const opener = target.closest("tr")?.querySelector("td[data-opens] :is(a, button)");
  if (!opener) return;
  const { ctrlKey, metaKey, shiftKey } = event;
  opener.dispatchEvent(
    new window.MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }),
  );
}
