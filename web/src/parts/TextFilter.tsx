// A text filter. It applies after a pause in typing, or on Enter.

import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";

const REST_MS = 300;

export function TextFilter(props: {
  label: string;
  value: string | undefined;
  placeholder?: string;
  /** For a number. */
  narrow?: boolean;
  /** The value that comes back for a text, which is the text where absent: `0.` is the number 0. */
  meaning?: (text: string | undefined) => string | undefined;
  /** What is wrong with a text, which is then shown at the field. */
  problem?: (text: string) => string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const { label, value = "", placeholder, narrow = false, meaning, problem, onChange } = props;
  const [typed, setTyped] = useState(value);
  const [wrong, setWrong] = useState<string>();
  const known = useRef(value);
  useEffect(() => {
    // What this field sent comes back, while the user types on.
    if (value === known.current) return;
    // The URL changed: back, forward or a link.
    known.current = value;
    setTyped(value);
    setWrong(undefined);
  }, [value]);
  const take = (text: string) => {
    const taken = text.trim() || undefined;
    setWrong(taken && problem?.(taken));
    known.current = (meaning ? meaning(taken) : taken) ?? "";
    onChange(taken);
  };
  const later = useDebouncedCallback(take, REST_MS);
  return (
    <TextInput
      size="xs"
      label={label}
      {...(narrow ? { w: 96, inputMode: "decimal" as const } : {})}
      {...(placeholder ? { placeholder } : {})}
      error={wrong}
      // The field stays in line with those beside it.
      inputWrapperOrder={["label", "error", "input"]}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") take(typed);
      }}
    />
  );
}
