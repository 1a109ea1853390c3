// Copies a text to the clipboard and confirms it.

import { Button, CopyButton } from "@mantine/core";

export function Copy({ text, label }: { text: string; label: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="xs" variant="default" onClick={copy} aria-live="polite">
          {copied ? "Copied" : label}
        </Button>
      )}
    </CopyButton>
  );
}
