// Toasts at the lower edge of the page.

import { Button, CloseButton } from "@mantine/core";
import { visible } from "../parts/names";
import { dismiss, useToasts } from "../parts/toasts";

export function Toasts() {
  const toasts = useToasts();
  return (
    <div className="toasts" aria-live="polite">
      {toasts.map(({ id, text, undo }) => (
        <div key={id} className="toast">
          <span>{visible(text)}</span>
          {undo && (
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => {
                dismiss(id);
                undo();
              }}
            >
              Undo
            </Button>
          )}
          <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
