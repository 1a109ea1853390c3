// A button with a question mark that explains a term in a popover.

import { Popover, Text, UnstyledButton } from "@mantine/core";
import { type ReactNode, useState } from "react";

export function Explain({ term, children }: { term: string; children: ReactNode }) {
  const [opened, setOpened] = useState(false);
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width={320}
      position="bottom-start"
      withArrow
      shadow="md"
    >
      <Popover.Target>
        <UnstyledButton
          className="explain"
          aria-label={`What is ${term}?`}
          onClick={() => setOpened(!opened)}
          // The popover itself hears keys only while the focus is in it, and there is nothing to focus.
          onKeyDown={({ key }) => {
            if (key === "Escape") setOpened(false);
          }}
        >
          ?
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm" component="div">
          {children}
        </Text>
      </Popover.Dropdown>
    </Popover>
  );
}
