// Selects a time range, which is part of the URL.

import { NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { localInput, RANGES, type TimeRange } from "./range";

const CHOICES = [
  { value: "", label: "Any time" },
  ...RANGES.map(({ value, label }) => ({ value, label })),
  { value: "between", label: "Custom range" },
];

export function RangeFields(props: {
  range: TimeRange;
  /** Passes all three values; an unset one is undefined. */
  onChange: (range: {
    within: string | undefined;
    from: string | undefined;
    to: string | undefined;
  }) => void;
}) {
  const { range, onChange } = props;
  // Chosen, with both ends still empty.
  const [custom, setCustom] = useState(Boolean(range.from || range.to));
  const between = !range.within && (custom || Boolean(range.from || range.to));
  const none = { within: undefined, from: undefined, to: undefined };
  const choose = (value: string) => {
    setCustom(value === "between");
    onChange({ ...none, ...(value && value !== "between" ? { within: value } : {}) });
  };
  const moment = (name: "from" | "to", label: string) => (
    <TextInput
      size="xs"
      type="datetime-local"
      label={label}
      value={localInput(range[name])}
      onChange={({ currentTarget: { value } }) =>
        onChange({
          ...none,
          from: range.from,
          to: range.to,
          [name]: value ? new Date(value).toISOString() : undefined,
        })
      }
    />
  );
  return (
    <>
      <NativeSelect
        size="xs"
        label="Time"
        data={CHOICES}
        value={between ? "between" : (range.within ?? "")}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {between && moment("from", "From")}
      {between && moment("to", "To")}
    </>
  );
}
