// One value of a list of any length: typing narrows the list. A few fixed values are a native select instead, which
// telephones show best.

import { Select, type SelectProps } from "@mantine/core";

export function Choice(
  props: Pick<SelectProps, "size" | "w" | "style"> & {
    label: string;
    data: { value: string; label: string }[];
    value: string;
    onChange: (value: string) => void;
  },
) {
  const { onChange, ...select } = props;
  return (
    <Select
      {...select}
      searchable
      allowDeselect={false}
      maxDropdownHeight={320}
      nothingFoundMessage="No matches"
      onChange={(value) => {
        if (value !== null) onChange(value);
      }}
    />
  );
}
