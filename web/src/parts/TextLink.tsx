// A link to a page of the dashboard, checked by the router's types.

import { Anchor, type AnchorProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, RefAttributes } from "react";

type Attributes = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps>;

function Underlined(props: AnchorProps & Attributes & RefAttributes<HTMLAnchorElement>) {
  return <Anchor size="sm" {...props} />;
}

/** `<TextLink to="/runs/$run" params={{ run }}>…</TextLink>`, for text in a sentence or a table. */
export const TextLink = createLink(Underlined);
