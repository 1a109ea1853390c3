// Forms whose errors stand at their fields: those found before sending, and those that the server names.

import { type FormErrors, type UseFormReturnType, useForm } from "@mantine/form";
import { ProblemError } from "../api/client";

/** Finds the field of a refusal: a pattern of its text, and the field's path or a function that makes it. */
export type FieldRule = readonly [RegExp, string | ((...found: string[]) => string)];

/** What a form tells the part that sends it. */
export interface Fields {
  /** Checks the fields; false if one shows an error. */
  validate: () => boolean;
  /** Shows a refusal at its field; false if it concerns none of them. */
  refuse: (thrown: unknown) => boolean;
}

/**
 * The error of a refusal by field. The text begins with the name of the interface's field, which the label
 * of the form's field replaces: `weight must be 1 to 100` becomes `Must be 1 to 100`.
 */
export function fieldErrors(thrown: unknown, rules: readonly FieldRule[]): Record<string, string> {
  const { status, message } = ProblemError.from(thrown);
  if (status < 400 || status >= 500) return {};
  for (const [pattern, field] of rules) {
    const found = pattern.exec(message);
    if (!found) continue;
    const [, ...groups] = found;
    const path = typeof field === "string" ? field : field(...groups);
    const text = message.replace(
      /^(?:email|name|weight|[a-z]+_[a-z_]+)(?: of pool `[^`]*`)? (?=must|is)/,
      "",
    );
    return { [path]: text.charAt(0).toUpperCase() + text.slice(1) };
  }
  return {};
}

export function useFields<Values extends Record<string, unknown>>(
  initialValues: Values,
  rules: readonly FieldRule[],
  validate: (values: Values) => FormErrors = () => ({}),
): { form: UseFormReturnType<Values>; fields: Fields } {
  const form = useForm<Values>({ mode: "controlled", initialValues, validate });
  const fields: Fields = {
    validate: () => !form.validate().hasErrors,
    refuse: (thrown) => {
      const errors = fieldErrors(thrown, rules);
      form.setErrors(errors);
      return Object.keys(errors).length > 0;
    },
  };
  return { form, fields };
}
