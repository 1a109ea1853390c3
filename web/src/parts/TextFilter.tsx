// A text filter. It applies after a pause in typing, or on Enter.

import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useState } from "react";

const REST_MS = 300;

export function TextFilter(props: {
  label: string;
  value: string | undefined;
  placeholder?: string;
  /** For a number. */
  narrow?: boolean;
  onChange: (value: string | undefined) => void;
}) {
  const { label, value = "", placeholder, narrow = false, onChange } = props;
  const [typed, setTyped] = useState(value);
  // The URL changed: back, forward or a link.
  useEffect(() => setTyped(value), [value]);
  const take = (text: string) => onChange(text.trim() || undefined);
  const later = useDebouncedCallback(take, REST_MS);
  return (
    <TextInput
      size="xs"
      label={label}
      {...(narrow ? { w: 96, inputMode: "decimal" as const } : {})}
      {...(placeholder ? { placeholder } : {})}
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
