// The end of a form: what became of saving it, and the button that does.

import { Alert, Button } from "@mantine/core";
import { Failed } from "../../parts/states";

export function Save(props: {
  saving: { isPending: boolean; isSuccess: boolean; isError: boolean; error: unknown };
}) {
  const { isPending, isSuccess, isError, error } = props.saving;
  return (
    <>
      {isError && <Failed thrown={error} />}
      {isSuccess && (
        <Alert color="green" variant="outline" role="status" title="Saved; it holds from now on" />
      )}
      <div>
        <Button type="submit" loading={isPending}>
          Save
        </Button>
      </div>
    </>
  );
}
