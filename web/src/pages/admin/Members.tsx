// The members of a tenant and their roles.

import { Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { ConfirmButton } from "../../parts/ConfirmButton";
import { Dot } from "../../parts/Dot";
import { moment } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { Empty } from "../../parts/states";
import { Invite } from "./Invite";
import { changed, type Member, membersQuery } from "./queries";
import { RoleOf } from "./RoleOf";
import { SearchedList, useListed } from "./SearchedList";

export function Members({ tenant }: { tenant: string }) {
  const members = useQuery(membersQuery(tenant, useListed()));
  return (
    <SearchedList
      query={members}
      what="the members"
      label="Email or name"
      actions={<Invite tenant={tenant} />}
      empty={
        <Empty title="No members yet">
          Invite people: each of them gets a link to set a password.
        </Empty>
      }
    >
      {(items) => <Table tenant={tenant} members={items} />}
    </SearchedList>
  );
}

function Table({ tenant, members }: { tenant: string; members: Member[] }) {
  return (
    <Grid
      caption={`Members of ${tenant}`}
      rows={members}
      rowKey={(member) => member.person}
      columns={[
        { title: "Email", cell: (member) => member.email },
        { title: "Name", cell: (member) => member.name },
        { title: "Role", cell: (member) => <RoleOf tenant={tenant} member={member} /> },
        { title: "State", cell: (member) => <State member={member} /> },
        { title: "Added", tight: true, cell: (member) => moment(member.added_at) },
        { title: "Actions", cell: (member) => <Remove tenant={tenant} member={member} /> },
      ]}
    />
  );
}

function State({ member }: { member: Member }) {
  if (member.disabled_at) return <Dot tone="bad">disabled</Dot>;
  return member.invited ? <Dot tone="waiting">invited</Dot> : <Dot tone="good">active</Dot>;
}

function Remove({ tenant, member }: { tenant: string; member: Member }) {
  const queries = useQueryClient();
  const act = async () => {
    const params = { path: { person: member.person }, query: { tenant } };
    await data(api.DELETE("/v1/members/{person}", { params }));
    await changed(queries, "members");
  };
  return (
    <ConfirmButton label="Remove" describes={member.email} danger act={act}>
      <Text size="sm">
        {member.email} loses access to {tenant} immediately. Keys that this person created stay
        valid.
      </Text>
    </ConfirmButton>
  );
}
