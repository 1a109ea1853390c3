// The end of a form: the result of saving and the Save button.

import { Alert, Button } from "@mantine/core";
import { Failed } from "../../parts/states";

export function Save(props: {
  saving: { isPending: boolean; isSuccess: boolean; isError: boolean; error: unknown };
  /** Whether a field shows the error. */
  atField?: boolean;
}) {
  const { isPending, isSuccess, isError, error } = props.saving;
  return (
    <>
      {isError && !props.atField && <Failed thrown={error} />}
      {isSuccess && <Alert color="green" variant="outline" role="status" title="Saved" />}
      <div>
        <Button type="submit" loading={isPending}>
          Save
        </Button>
      </div>
    </>
  );
}
