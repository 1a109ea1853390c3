// A long id or digest: its ends, and a button that copies all of it. Where copying fails, all of it is shown.

import { useCopy } from "./clipboard";
import { Icon } from "./Icon";

const SHOWN = 8;

export function Chip({ text, label }: { text: string; label: string }) {
  const { state, copy } = useCopy(text);
  const short =
    text.length > 2 * SHOWN + 1 ? `${text.slice(0, SHOWN)}…${text.slice(-SHOWN)}` : text;
  if (state === "failed") {
    return (
      <span role="status">
        Copy failed: select the text <code style={{ overflowWrap: "anywhere" }}>{text}</code>
      </span>
    );
  }
  return (
    <button
      type="button"
      className="chip"
      title={text}
      aria-label={state === "copied" ? `Copied the ${label}` : `Copy the ${label} ${text}`}
      onClick={copy}
    >
      <code>{short}</code>
      <Icon name={state === "copied" ? "done" : "copy"} size={14} />
    </button>
  );
}
