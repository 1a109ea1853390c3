// The layout around every page: navigation, tenant, connection state and account menu.

import { AppShell, Burger, Button, Group, Kbd, NavLink, ScrollArea, Text } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { type Session, SessionContext, sessionQuery } from "../api/session";
import { useLive } from "../api/updates";
import { Icon } from "../parts/Icon";
import { loadPatiently } from "../parts/lazyPage";
import { Account } from "./Account";
import { backTo } from "./back";
import { placesOf } from "./places";
import { StaleBanner, useLostSince } from "./StaleBanner";
import { TenantSwitcher } from "./TenantSwitcher";
import { Toasts } from "./Toasts";

const Palette = lazy(() => loadPatiently(() => import("./Palette")));

export function Shell() {
  const { data: session } = useQuery(sessionQuery);
  // The session is null after it ended, whichever page noticed that.
  if (session === null) return <SignedOut />;
  if (!session) return null;
  return (
    <SessionContext value={session}>
      <Frame session={session} />
    </SessionContext>
  );
}

/** Redirects once to the sign-in page, which returns to the current URL. */
function SignedOut() {
  const navigate = useNavigate();
  const location = useLocation();
  const [back] = useState(() => backTo(location));
  useEffect(() => {
    void navigate({ to: "/sign-in", search: { back }, replace: true });
  }, [navigate, back]);
  return null;
}

function Frame({ session }: { session: Session }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const [searching, palette] = useDisclosure(false);
  // No element is left out: the keys work in a field too.
  useHotkeys([["mod+K", palette.open]], []);
  const live = useLive(session.tenant);
  const lostSince = useLostSince(live);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 184, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip" href="#content">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Open navigation"
            />
            <img src="/assay.svg" alt="" width={26} height={26} />
            <Text fw={700} visibleFrom="xs">
              Assay
            </Text>
            <TenantSwitcher session={session} />
            <Text size="xs" c="dimmed" role="status" visibleFrom="xs">
              {live === "open" ? "live" : live === "lost" ? "reconnecting…" : ""}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button
              size="xs"
              variant="default"
              aria-label="Go to a page, run, plugin or batch"
              aria-haspopup="dialog"
              onClick={palette.open}
              rightSection={
                <Kbd size="xs" visibleFrom="sm">
                  Ctrl K
                </Kbd>
              }
            >
              Go to
            </Button>
            <Account session={session} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <ScrollArea>
          <Places session={session} onOpen={close} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main
        id="content"
        tabIndex={-1}
        {...(lostSince === undefined ? {} : { className: "stale" })}
      >
        {/* What a page of one tenant has open, such as a dialog, is nothing to act on in another. */}
        <Outlet key={session.tenant} />
      </AppShell.Main>
      {searching && (
        <Suspense>
          <Palette session={session} onClose={palette.close} />
        </Suspense>
      )}
      <Toasts />
      {lostSince !== undefined && <StaleBanner since={lostSince} />}
    </AppShell>
  );
}

function Places({ session, onOpen }: { session: Session; onOpen: () => void }) {
  const { pathname } = useLocation();
  const here = (to: string) => (to === "/" ? pathname === "/" : pathname.startsWith(to));
  return placesOf(session).map(({ title, places }) => (
    <div key={title} className="places">
      <Text className="places-title">{title}</Text>
      {places.map((place) => (
        <NavLink
          key={place.to}
          component={Link}
          to={place.to}
          label={place.label}
          leftSection={<Icon name={place.icon} />}
          active={here(place.to)}
          aria-current={here(place.to) ? "page" : undefined}
          onClick={onOpen}
        />
      ))}
    </div>
  ));
}
