// An address that leads nowhere.

import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Empty } from "../parts/states";

export function NotFound() {
  return (
    <Empty title="There is no such page">
      Go to the{" "}
      <Anchor component={Link} to="/" underline="always">
        overview
      </Anchor>
      .
    </Empty>
  );
}
