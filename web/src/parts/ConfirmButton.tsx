// A button that opens a confirmation dialog and shows errors of the action in it.

import { Button, Group, Modal, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import { Failed } from "./states";
import { say } from "./toasts";

export function ConfirmButton(props: {
  /** Text of the button that opens the dialog, and title of the dialog. */
  label: string;
  /** Explains the effect of the action. */
  children: ReactNode;
  /** Name of the row, which distinguishes its button from those of other rows. */
  describes?: string;
  /** Text of the button that closes the dialog. */
  dismiss?: string;
  danger?: boolean;
  act: () => Promise<unknown>;
  /** What was done, told once it is. */
  done?: string;
}) {
  const { label, children, describes, dismiss = "Cancel", danger = false, act, done } = props;
  const title = describes ? `${label}: ${describes}` : label;
  const [opened, { open, close }] = useDisclosure(false);
  // A table has such a button in each row, so that a dialog is made when it is first opened.
  const [used, setUsed] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const acting = useMutation({
    mutationFn: act,
    onSuccess: () => {
      close();
      if (done) say(done);
    },
  });
  // A refusal is shown in the dialog, so that it stays open until the call ends.
  const closing = () => {
    if (!acting.isPending) close();
  };
  return (
    <>
      <Button
        ref={opener}
        size="xs"
        variant="default"
        aria-label={title}
        onClick={() => {
          acting.reset();
          setUsed(true);
          open();
        }}
      >
        {label}
      </Button>
      {used && (
        <Modal
          opened={opened}
          onClose={closing}
          // A dialog that was made open does not know where the focus was.
          onExitTransitionEnd={() => opener.current?.focus()}
          title={title}
          centered
          closeOnClickOutside={!acting.isPending}
          closeOnEscape={!acting.isPending}
          closeButtonProps={{ disabled: acting.isPending, "aria-label": "Close" }}
        >
          <Stack>
            <div>{children}</div>
            {acting.isError && <Failed thrown={acting.error} />}
            <Group justify="flex-end">
              <Button variant="default" disabled={acting.isPending} onClick={closing}>
                {dismiss}
              </Button>
              <Button
                {...(danger ? { color: "red.9" } : {})}
                loading={acting.isPending}
                onClick={() => acting.mutate()}
              >
                {label}
              </Button>
            </Group>
          </Stack>
        </Modal>
      )}
    </>
  );
}
