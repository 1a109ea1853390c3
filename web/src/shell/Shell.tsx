// The layout around every page: navigation, connection state and account menu.

import { AppShell, Burger, Group, NavLink, ScrollArea, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { may, type Scope, type Session, sessionQuery } from "../api/session";
import { useLive } from "../api/updates";
import { Account } from "./Account";

const PAGES: { to: string; label: string; scope: Scope }[] = [
  { to: "/", label: "Overview", scope: "batches:read" },
  { to: "/runs", label: "Runs", scope: "batches:read" },
  { to: "/batches", label: "Batches", scope: "batches:read" },
  { to: "/plugins", label: "Plugins", scope: "batches:read" },
  { to: "/capacity", label: "Capacity", scope: "platform:*" },
  { to: "/workers", label: "Workers", scope: "platform:*" },
  { to: "/simulate", label: "Simulate", scope: "batches:read" },
  { to: "/admin", label: "Admin", scope: "admin:*" },
];

export function Shell() {
  const { data: session } = useQuery(sessionQuery);
  // The session is null after it ended, whichever page noticed that.
  if (session === null) return <SignedOut />;
  return session ? <Frame session={session} /> : null;
}

/** Redirects once to the sign-in page, which returns to the current URL. */
function SignedOut() {
  const navigate = useNavigate();
  const { href } = useLocation();
  const [back] = useState(href);
  useEffect(() => {
    void navigate({ to: "/sign-in", search: { back }, replace: true });
  }, [navigate, back]);
  return null;
}

function Frame({ session }: { session: Session }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  const live = useLive(session.tenant);
  const here = (to: string) => (to === "/" ? pathname === "/" : pathname.startsWith(to));
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 180, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip" href="#content">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Open navigation"
            />
            <img src="/assay.svg" alt="" width={26} height={26} />
            <Text fw={700}>Assay</Text>
            <Text size="xs" c="dimmed" role="status" visibleFrom="xs">
              {live === "open" ? "live" : live === "lost" ? "reconnecting…" : ""}
            </Text>
          </Group>
          <Account session={session} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <ScrollArea>
          {PAGES.filter((place) => may(session, place.scope)).map((place) => (
            <NavLink
              key={place.to}
              component={Link}
              to={place.to}
              label={place.label}
              active={here(place.to)}
              aria-current={here(place.to) ? "page" : undefined}
              onClick={close}
              variant="filled"
            />
          ))}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
