// Shows the refusal of a call that was made from the header, where there is no room for it.

import { Modal } from "@mantine/core";
import { Failed } from "../parts/states";

export function FailedDialog(props: {
  title: string;
  failed: { isError: boolean; error: unknown; reset: () => void };
}) {
  const { title, failed } = props;
  return (
    <Modal opened={failed.isError} onClose={failed.reset} title={title} centered>
      {failed.isError && <Failed thrown={failed.error} />}
    </Modal>
  );
}
