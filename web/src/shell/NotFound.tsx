// The page for unknown URLs.

import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Empty } from "../parts/states";

export function NotFound() {
  return (
    <Empty title="Page not found">
      Go to the{" "}
      <Anchor component={Link} to="/" underline="always">
        overview
      </Anchor>
      .
    </Empty>
  );
}
