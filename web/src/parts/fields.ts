// Forms whose errors stand at their fields: those found before sending, and those that the server names.

import { type FormErrors, type UseFormReturnType, useForm } from "@mantine/form";
import { ProblemError } from "../api/client";

/**
 * The form's path of each member that the server may name: `name`, or `quotas.workers_max.*` for all members
 * of one, whose path has the member's name in place of its own `*`.
 */
export type FieldPaths = Readonly<Record<string, string>>;

/** The state that a form passes to the part that sends it. */
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
export function fieldErrors(thrown: unknown, paths: FieldPaths): Record<string, string> {
  const { field, message } = ProblemError.from(thrown);
  const path = field === undefined ? undefined : pathOf(field, paths);
  if (path === undefined) return {};
  const text = message.replace(
    /^(?:email|name|weight|[a-z]+_[a-z_]+)(?: of pool `[^`]*`)? (?=must|is)/,
    "",
  );
  return { [path]: text.charAt(0).toUpperCase() + text.slice(1) };
}

function pathOf(field: string, paths: FieldPaths): string | undefined {
  if (Object.hasOwn(paths, field)) return paths[field];
  const dot = field.lastIndexOf(".");
  const all = `${field.slice(0, dot)}.*`;
  return Object.hasOwn(paths, all) ? paths[all]?.replace("*", field.slice(dot + 1)) : undefined;
}

export function useFields<Values extends Record<string, unknown>>(
  initialValues: Values,
  paths: FieldPaths,
  validate: (values: Values) => FormErrors = () => ({}),
): { form: UseFormReturnType<Values>; fields: Fields } {
  const form = useForm<Values>({ mode: "controlled", initialValues, validate });
  const fields: Fields = {
    validate: () => !form.validate().hasErrors,
    refuse: (thrown) => {
      const errors = fieldErrors(thrown, paths);
      form.setErrors(errors);
      return Object.keys(errors).length > 0;
    },
  };
  return { form, fields };
}
