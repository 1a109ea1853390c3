// A button that is an icon; its name is in the tooltip.

import { ActionIcon, type ActionIconProps } from "@mantine/core";
import type { ComponentProps } from "react";
import { Icon, type IconName } from "./Icon";

export function Action(
  props: { label: string; icon: IconName } & ActionIconProps &
    Omit<ComponentProps<"button">, keyof ActionIconProps>,
) {
  const { label, icon, ...rest } = props;
  return (
    <ActionIcon variant="subtle" color="gray" size="md" aria-label={label} title={label} {...rest}>
      <Icon name={icon} size={16} />
    </ActionIcon>
  );
}
