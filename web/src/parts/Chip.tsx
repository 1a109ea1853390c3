// A long id or digest: its ends, and a button that copies all of it.

import { CopyButton } from "@mantine/core";
import { Icon } from "./Icon";

const SHOWN = 8;

export function Chip({ text, label }: { text: string; label: string }) {
  const short =
    text.length > 2 * SHOWN + 1 ? `${text.slice(0, SHOWN)}…${text.slice(-SHOWN)}` : text;
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <button
          type="button"
          className="chip"
          title={text}
          aria-label={copied ? `Copied the ${label}` : `Copy the ${label} ${text}`}
          onClick={copy}
        >
          <code>{short}</code>
          <Icon name={copied ? "done" : "copy"} size={14} />
        </button>
      )}
    </CopyButton>
  );
}
