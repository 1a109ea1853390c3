// The field of a new password, which says what is wrong before it is sent.

import { PasswordInput } from "@mantine/core";
import { useState } from "react";
import { passwordProblem } from "./passwords";

export function NewPassword(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const { label, value, onChange } = props;
  const [left, setLeft] = useState(false);
  const problem = passwordProblem(value);
  return (
    <PasswordInput
      label={label}
      description="At least 12 characters."
      autoComplete="new-password"
      required
      error={left && value !== "" ? problem : undefined}
      value={value}
      onBlur={() => setLeft(true)}
      onChange={(event) => {
        const { currentTarget } = event;
        // The browser shows the problem at the field and sends nothing.
        currentTarget.setCustomValidity(passwordProblem(currentTarget.value) ?? "");
        onChange(currentTarget.value);
      }}
    />
  );
}
