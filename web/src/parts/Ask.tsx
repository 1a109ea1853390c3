// Asks before something that cannot be taken back, and shows why it was refused.

import { Button, Group, Modal, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failed } from "./states";

export function Ask(props: {
  /** On the button that opens it, and its title. */
  label: string;
  /** What will happen. */
  children: ReactNode;
  /** What stands on the page does not tell one row's button from another's. */
  describes?: string;
  danger?: boolean;
  act: () => Promise<unknown>;
}) {
  const { label, children, describes, danger = false, act } = props;
  const title = describes ? `${label}: ${describes}` : label;
  const [opened, { open, close }] = useDisclosure(false);
  const acting = useMutation({ mutationFn: act, onSuccess: close });
  return (
    <>
      <Button size="xs" variant="default" aria-label={title} onClick={open}>
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={title} centered>
        <Stack>
          <div>{children}</div>
          {acting.isError && <Failed thrown={acting.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Leave it
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
    </>
  );
}
