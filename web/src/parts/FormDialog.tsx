// A button that opens a form dialog. Errors appear in the form. An answer that is shown once, such
// as a secret, replaces the form until the dialog is closed.

import { Button, Group, Modal, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import type { Fields } from "./fields";
import { Failed } from "./states";
import { say } from "./toasts";

export function FormDialog<Result>(props: {
  /** Text of the button that opens the dialog, and title of the dialog. */
  label: string;
  /** Text of the submit button; `label` when absent. */
  submit?: string;
  /** Style of the button that opens the dialog. */
  variant?: "default" | "filled";
  /** Name of the row, which distinguishes its button from those of other rows. */
  describes?: string;
  /** Why the dialog cannot be opened. */
  unavailable?: string;
  /** Whether a field has a problem, which it shows itself; then nothing is sent. */
  invalid?: boolean;
  /** Fields that show errors themselves. */
  fields?: Fields;
  act: () => Promise<Result>;
  /** What was done, told once it is; not where an answer is shown. */
  done?: string | ((result: Result) => string);
  /** Resets the fields. */
  onOpen?: () => void;
  answer?: (result: Result) => ReactNode;
  children: ReactNode;
}) {
  const {
    label,
    submit = label,
    variant = "default",
    describes,
    unavailable,
    invalid = false,
    fields,
    act,
    done,
    onOpen,
    answer,
  } = props;
  const [opened, { open, close }] = useDisclosure(false);
  // A table has such a button in each row, so that a dialog is made when it is first opened.
  const [used, setUsed] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const [atField, setAtField] = useState(false);
  const acting = useMutation({
    mutationFn: act,
    onSuccess: (result) => {
      if (answer) return;
      close();
      if (done) say(typeof done === "string" ? done : done(result));
    },
    onError: (thrown) => setAtField(fields?.refuse(thrown) ?? false),
  });
  const answered = acting.isSuccess && answer !== undefined;
  // Closing the dialog does not stop the call, whose refusal or one-time answer is shown in it.
  const held = acting.isPending;
  const opening = () => {
    if (unavailable !== undefined) return;
    acting.reset();
    onOpen?.();
    setUsed(true);
    open();
  };
  const closing = () => {
    if (!held) close();
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (acting.isPending || invalid) return;
    if (fields?.validate() ?? true) acting.mutate();
  };
  return (
    <>
      <Button
        ref={opener}
        size="xs"
        variant={variant}
        onClick={opening}
        {...(unavailable === undefined
          ? {}
          : { "aria-disabled": true, "data-disabled": true, title: unavailable })}
        {...(describes ? { "aria-label": `${label}: ${describes}` } : {})}
      >
        {label}
      </Button>
      {used && (
        <Modal
          opened={opened}
          onClose={closing}
          // A dialog that was made open does not know where the focus was.
          onExitTransitionEnd={() => opener.current?.focus()}
          title={describes ? `${label}: ${describes}` : label}
          // A click outside or Escape must not close an answer that is shown only once.
          closeOnClickOutside={!answered && !held}
          closeOnEscape={!answered && !held}
          closeButtonProps={{ disabled: held, "aria-label": "Close" }}
        >
          {acting.isSuccess && answer ? (
            <Stack>
              {answer(acting.data)}
              <Group justify="flex-end">
                <Button onClick={close}>Done</Button>
              </Group>
            </Stack>
          ) : (
            <form onSubmit={send} noValidate={fields !== undefined}>
              <Stack>
                {props.children}
                {acting.isError && !atField && <Failed thrown={acting.error} />}
                <Group justify="flex-end">
                  <Button variant="default" disabled={held} onClick={closing}>
                    Cancel
                  </Button>
                  <Button type="submit" loading={acting.isPending}>
                    {submit}
                  </Button>
                </Group>
              </Stack>
            </form>
          )}
        </Modal>
      )}
    </>
  );
}
