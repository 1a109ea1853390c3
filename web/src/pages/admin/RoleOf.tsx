// The role of a member, with a choice of another role.

import { NativeSelect, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { Failed } from "../../parts/states";
import { say } from "../../parts/toasts";
import { changed, type Member, type Role } from "./queries";
import { ROLES, roleOf } from "./roles";

export function RoleOf({ tenant, member }: { tenant: string; member: Member }) {
  const queries = useQueryClient();
  const setting = useMutation({
    mutationFn: (role: Role) => {
      const params = { path: { person: member.person }, query: { tenant } };
      return data(api.PATCH("/v1/members/{person}", { params, body: { role } }));
    },
    onSettled: () => changed(queries, "members"),
  });
  const choose = (role: Role) => {
    const before = member.role;
    setting.mutate(role, {
      onSuccess: () => say(`${member.email} is ${role} of ${tenant}`, () => setting.mutate(before)),
    });
  };
  return (
    <Stack gap="xs">
      <NativeSelect
        aria-label={`Role of ${member.email}`}
        size="xs"
        w={130}
        // Shown at once, and the old one again where it is refused.
        value={setting.isPending ? setting.variables : member.role}
        data={ROLES.map(({ role }) => role)}
        onChange={(event) => choose(roleOf(event.currentTarget.value))}
      />
      {setting.isError && <Failed thrown={setting.error} />}
    </Stack>
  );
}
