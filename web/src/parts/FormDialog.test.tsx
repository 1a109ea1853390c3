import { expect, it } from "vitest";
import { ConfirmButton } from "./ConfirmButton";
import { FormDialog } from "./FormDialog";
import { markup } from "./markup";

it("makes no dialog before it is opened, because each row of a table has such a button", () => {
  const act = async () => undefined;
  const html = markup(
    <>
      <FormDialog label="Rotate" describes="key" act={act}>
        fields
      </FormDialog>
      <ConfirmButton label="Revoke" describes="key" act={act}>
        text
      </ConfirmButton>
    </>,
  );
  expect(html.match(/<button/g)).toHaveLength(2);
  expect(html).not.toContain("fields");
});
