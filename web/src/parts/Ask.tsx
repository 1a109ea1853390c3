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
  danger?: boolean;
  act: () => Promise<unknown>;
}) {
  const { label, children, danger = false, act } = props;
  const [opened, { open, close }] = useDisclosure(false);
  const acting = useMutation({ mutationFn: act, onSuccess: close });
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={label} centered>
        <Stack>
          <div>{children}</div>
          {acting.isError && <Failed thrown={acting.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
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
