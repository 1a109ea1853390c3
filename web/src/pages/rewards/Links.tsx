// Links to the things of rewards, written alike on every page.

import { Anchor, type AnchorProps } from "@mantine/core";
import { createLink, Link } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";

function Plain(props: AnchorProps & Omit<ComponentProps<"a">, keyof AnchorProps>) {
  return <Anchor {...props} />;
}

/** A link whose path and parameters are checked. */
export const To = createLink(Plain);

export function RunLink({ run }: { run: string }) {
  return (
    <To to="/runs/$run" params={{ run }} size="sm">
      <span className="broken">{run}</span>
    </To>
  );
}

export function BatchLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <To to="/batches/$batch" params={{ batch: id }} size="sm">
      {children}
    </To>
  );
}

export function RequestLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <To to="/requests/$request" params={{ request: id }} size="sm">
      {children}
    </To>
  );
}

/** `name@version`. */
export function PluginLink({ plugin }: { plugin: string }) {
  const at = plugin.lastIndexOf("@");
  const path = [plugin.slice(0, at), plugin.slice(at + 1)].map(encodeURIComponent).join("/");
  return (
    <Anchor component={Link} to={`/plugins/${path}`} size="sm">
      {plugin}
    </Anchor>
  );
}
