// The account menu: colour scheme, personal keys, password and sign-out.

import { Button, Menu, Text, useMantineColorScheme } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type Session, useSignOut } from "../api/session";
import { Icon } from "../parts/Icon";
import { FailedDialog } from "./FailedDialog";

const SCHEMES = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "System" },
] as const;

export function Account({ session }: { session: Session }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const leaving = useSignOut();
  const name = session.person?.name || session.person?.email || session.key?.name || "key";
  return (
    <>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            aria-label={`Account ${name}`}
            leftSection={<Icon name="person" size={16} />}
          >
            <Text span size="xs" truncate maw={140}>
              {name}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Colour scheme</Menu.Label>
          {SCHEMES.map(({ value, label }) => (
            <Menu.Item
              key={value}
              aria-current={colorScheme === value ? "true" : undefined}
              fw={colorScheme === value ? 600 : 400}
              rightSection={colorScheme === value && <Icon name="done" size={14} />}
              onClick={() => setColorScheme(value)}
            >
              {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          {session.person && (
            <>
              <Menu.Item component={Link} to="/account/keys">
                Your keys
              </Menu.Item>
              <Menu.Item component={Link} to="/account">
                Change password
              </Menu.Item>
            </>
          )}
          <Menu.Item onClick={() => leaving.mutate()}>Sign out</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <FailedDialog title="You are still signed in" failed={leaving} />
    </>
  );
}
