// Copies a text to the clipboard and confirms it, or says that it failed.

import { Button } from "@mantine/core";
import { useCopy } from "./clipboard";

export function Copy({ text, label }: { text: string; label: string }) {
  const { state, copy } = useCopy(text);
  return (
    <Button size="xs" variant="default" onClick={copy} aria-live="polite">
      {state === "copied" ? "Copied" : state === "failed" ? "Copy failed: select the text" : label}
    </Button>
  );
}
