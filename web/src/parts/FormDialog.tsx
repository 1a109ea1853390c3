// A button that opens a form over the page. What was refused is shown in the form; what the answer
// tells once, such as a secret, is shown in its place until it is closed.

import { Button, Group, Modal, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { Failed } from "./states";

export function FormDialog<Made>(props: {
  /** On the button that opens it, and its title. */
  label: string;
  /** On the button that sends it; the label when absent. */
  submit?: string;
  /** Of the button that opens it. */
  variant?: "default" | "filled";
  /** What stands on the page does not tell one row's button from another's. */
  describes?: string;
  act: () => Promise<Made>;
  /** Sets the fields anew. */
  onOpen?: () => void;
  answer?: (made: Made) => ReactNode;
  children: ReactNode;
}) {
  const { label, submit = label, variant = "default", describes, act, onOpen, answer } = props;
  const [opened, { open, close }] = useDisclosure(false);
  const acting = useMutation({ mutationFn: act, onSuccess: answer ? () => undefined : close });
  const told = acting.isSuccess && answer !== undefined;
  const opening = () => {
    acting.reset();
    onOpen?.();
    open();
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    acting.mutate();
  };
  return (
    <>
      <Button
        size="xs"
        variant={variant}
        onClick={opening}
        {...(describes ? { "aria-label": `${label}: ${describes}` } : {})}
      >
        {label}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={describes ? `${label}: ${describes}` : label}
        // What is told once must not vanish by a click beside it.
        closeOnClickOutside={!told}
        closeOnEscape={!told}
      >
        {acting.isSuccess && answer ? (
          <Stack>
            {answer(acting.data)}
            <Group justify="flex-end">
              <Button onClick={close}>Done</Button>
            </Group>
          </Stack>
        ) : (
          <form onSubmit={send}>
            <Stack>
              {props.children}
              {acting.isError && <Failed thrown={acting.error} />}
              <Group justify="flex-end">
                <Button variant="default" onClick={close}>
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
    </>
  );
}
