// The role of a member, with a choice of another role.

import { NativeSelect, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { Failed } from "../../parts/states";
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
  return (
    <Stack gap="xs">
      <NativeSelect
        aria-label={`Role of ${member.email}`}
        size="xs"
        w={130}
        value={member.role}
        disabled={setting.isPending}
        data={ROLES.map(({ role }) => role)}
        onChange={(event) => setting.mutate(roleOf(event.currentTarget.value))}
      />
      {setting.isError && <Failed thrown={setting.error} />}
    </Stack>
  );
}
