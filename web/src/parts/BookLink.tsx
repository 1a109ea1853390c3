// A link to a page of the documentation, by its path below `/book/`.

import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

export function BookLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={`/book/${to}`} size="sm">
      {children}
    </Anchor>
  );
}
