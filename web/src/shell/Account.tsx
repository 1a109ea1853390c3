// The account menu: tenant, colour scheme, password and sign-out.

import { Button, Menu, useMantineColorScheme } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { api, data } from "../api/client";
import { isSessionData, type Session, sessionQuery, useEnter } from "../api/session";

const SCHEMES = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "System" },
] as const;

export function Account({ session }: { session: Session }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const enter = useEnter();
  const switching = useMutation({
    mutationFn: (tenant: string) => data(api.POST("/v1/session/tenant", { body: { tenant } })),
    onSuccess: (entered) => {
      enter(entered);
      void navigate({ to: "/" });
    },
  });
  const leaving = useMutation({
    mutationFn: () => data(api.DELETE("/v1/session")),
    onSettled: () => {
      // Mounted components observe the session query, so it is set to null instead of removed.
      queries.setQueryData(sessionQuery.queryKey, null);
      queries.removeQueries({ predicate: isSessionData });
    },
  });
  const name = session.person?.name || session.person?.email || session.key?.name || "key";
  const others = (session.tenants ?? []).filter(({ tenant }) => tenant !== session.tenant);
  return (
    <Menu position="bottom-end" width={230}>
      <Menu.Target>
        <Button variant="default" size="xs">
          {session.tenant} · {name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {others.length > 0 && <Menu.Label>Switch tenant</Menu.Label>}
        {others.map(({ tenant, role }) => (
          <Menu.Item key={tenant} onClick={() => switching.mutate(tenant)}>
            {tenant} ({role})
          </Menu.Item>
        ))}
        <Menu.Label>Colour scheme</Menu.Label>
        {SCHEMES.map(({ value, label }) => (
          <Menu.Item
            key={value}
            aria-current={colorScheme === value ? "true" : undefined}
            fw={colorScheme === value ? 600 : 400}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {session.person && (
          <Menu.Item component={Link} to="/account">
            Change password
          </Menu.Item>
        )}
        <Menu.Item onClick={() => leaving.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
