// A link to a page of the documentation, by its path below `/book/`, on a line of its own.

import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

export function BookLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={`/book/${to}`} size="sm" display="block" w="fit-content" mt={4}>
      {children}
    </Anchor>
  );
}
