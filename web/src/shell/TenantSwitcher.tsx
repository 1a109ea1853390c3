// The current tenant, and a searchable list of the user's other tenants.

import { Button, Combobox, Text, useCombobox } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Session, useSwitchTenant } from "../api/session";
import { FailedDialog } from "./FailedDialog";

/** From this number of tenants on, the list can be searched. */
const SEARCHED_FROM = 8;

export function TenantSwitcher({ session }: { session: Session }) {
  const [typed, setTyped] = useState("");
  const navigate = useNavigate();
  const switching = useSwitchTenant();
  const box = useCombobox({
    onDropdownClose: () => {
      box.resetSelectedOption();
      setTyped("");
    },
    onDropdownOpen: () => box.focusSearchInput(),
  });
  const tenants = session.tenants ?? [];
  if (tenants.length < 2) {
    return (
      <Text size="sm" truncate maw={180}>
        {session.tenant}
      </Text>
    );
  }
  const wanted = typed.trim().toLowerCase();
  const shown = tenants.filter(({ tenant }) => tenant.toLowerCase().includes(wanted));
  const choose = (tenant: string) => {
    box.closeDropdown();
    if (tenant === session.tenant) return;
    switching.mutate(tenant, { onSuccess: () => void navigate({ to: "/" }) });
  };
  return (
    <>
      <Combobox store={box} width={260} position="bottom-start" onOptionSubmit={choose}>
        <Combobox.Target targetType="button">
          <Button
            size="xs"
            variant="default"
            aria-label={`Tenant ${session.tenant}`}
            loading={switching.isPending}
            rightSection={<Combobox.Chevron size="xs" />}
            onClick={() => box.toggleDropdown()}
          >
            <Text span size="xs" truncate maw={160}>
              {session.tenant}
            </Text>
          </Button>
        </Combobox.Target>
        <Combobox.Dropdown>
          {tenants.length >= SEARCHED_FROM && (
            <Combobox.Search
              aria-label="Search tenants"
              placeholder="Search tenants"
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          )}
          <Combobox.Options aria-label="Tenants" mah={320} style={{ overflowY: "auto" }}>
            {shown.map(({ tenant, role }) => (
              <Combobox.Option key={tenant} value={tenant} active={tenant === session.tenant}>
                {tenant} ({role})
              </Combobox.Option>
            ))}
            {shown.length === 0 && <Combobox.Empty>No matching tenants</Combobox.Empty>}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
      <FailedDialog title={`The tenant is still ${session.tenant}`} failed={switching} />
    </>
  );
}
