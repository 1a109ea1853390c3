// Links to runs, batches, requests and plugins.

import { Anchor, type AnchorProps } from "@mantine/core";
import { createLink, Link } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import { Name } from "../../parts/Name";

function Plain(props: AnchorProps & Omit<ComponentProps<"a">, keyof AnchorProps>) {
  return <Anchor {...props} />;
}

/** A link with a typed path and parameters. */
export const PageLink = createLink(Plain);

export function RunLink({ run }: { run: string }) {
  return (
    <PageLink to="/runs/$run" params={{ run }} size="sm">
      <Name text={run} />
    </PageLink>
  );
}

export function BatchLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <PageLink to="/batches/$batch" params={{ batch: id }} size="sm">
      {children}
    </PageLink>
  );
}

export function RequestLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <PageLink to="/requests/$request" params={{ request: id }} size="sm">
      {children}
    </PageLink>
  );
}

/** `plugin` has the form `name@version`. */
export function PluginLink({ plugin }: { plugin: string }) {
  const at = plugin.lastIndexOf("@");
  const path = [plugin.slice(0, at), plugin.slice(at + 1)].map(encodeURIComponent).join("/");
  return (
    <Anchor component={Link} to={`/plugins/${path}`} size="sm">
      <Name text={plugin} />
    </Anchor>
  );
}
