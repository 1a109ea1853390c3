// A menu that saves a table as a file: all its rows, not only the page that is shown.

import { Button, Menu, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { EXPORT_ROWS_MAX, type ExportPage, exported, type Format, save } from "./exports";
import { count } from "./format";
import { Failed } from "./states";

export function Export<Cursor>(props: {
  /** Name of the file without its ending. */
  name: string;
  /** Paths of a row's values, as columns of CSV and Parquet. JSON Lines have everything. */
  columns: readonly string[];
  read: (after: Cursor | undefined) => Promise<ExportPage<Cursor>>;
}) {
  const { name, columns, read } = props;
  const [cut, setCut] = useState(false);
  const saving = useMutation({
    mutationFn: (format: Format) => {
      setCut(false);
      return save(
        name,
        format,
        exported(format, columns, read, () => setCut(true)),
      );
    },
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            loading={saving.isPending}
            aria-label={`Export ${name}`}
          >
            Export
          </Button>
        </Menu.Target>
        <FormatItems onChoose={saving.mutate} />
      </Menu>
      {saving.isError && <Failed thrown={saving.error} />}
      {cut && (
        <Text size="sm" role="status">
          The file has the first {count(EXPORT_ROWS_MAX)} rows. There are more.
        </Text>
      )}
    </>
  );
}

/** The formats of a table, in a menu. */
export function FormatItems({ onChoose }: { onChoose: (format: Format) => void }) {
  return (
    <Menu.Dropdown>
      <Menu.Item onClick={() => onChoose("csv")}>CSV</Menu.Item>
      <Menu.Item onClick={() => onChoose("jsonl")}>JSON Lines</Menu.Item>
      <Menu.Item onClick={() => onChoose("parquet")}>Parquet</Menu.Item>
    </Menu.Dropdown>
  );
}
