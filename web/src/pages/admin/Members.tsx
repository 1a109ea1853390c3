// The members of a tenant and their roles.

import { Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { Badge } from "../../parts/Badge";
import { ConfirmButton } from "../../parts/ConfirmButton";
import { moment } from "../../parts/format";
import { SortedGrid } from "../../parts/SortedGrid";
import { Empty } from "../../parts/states";
import { membersExport } from "./exported";
import { Invite } from "./Invite";
import { changed, type Member, membersQuery } from "./queries";
import { RoleOf } from "./RoleOf";
import { SearchedList, useListed } from "./SearchedList";

export function Members({ tenant }: { tenant: string }) {
  const listed = useListed();
  const members = useQuery(membersQuery(tenant, listed));
  return (
    <SearchedList
      query={members}
      what="the members"
      label="Email or name"
      exported={membersExport(tenant, listed.q)}
      actions={<Invite tenant={tenant} />}
      empty={
        <Empty title="No members yet">
          Invite people: each of them gets a link to set a password.
        </Empty>
      }
    >
      {(items, more) => <Table tenant={tenant} members={items} more={more} />}
    </SearchedList>
  );
}

function Table(props: { tenant: string; members: Member[]; more: boolean }) {
  const { tenant, members, more } = props;
  return (
    <SortedGrid
      caption={`Members of ${tenant}`}
      rows={members}
      rowKey={(member) => member.person}
      more={more}
      columns={[
        { title: "Email", value: (member) => member.email, cell: (member) => member.email },
        { title: "Name", value: (member) => member.name || null, cell: (member) => member.name },
        {
          title: "Role",
          value: (member) => member.role,
          cell: (member) => <RoleOf tenant={tenant} member={member} />,
        },
        {
          title: "State",
          value: stateOf,
          cell: (member) => <Badge tone={TONES[stateOf(member)]}>{stateOf(member)}</Badge>,
        },
        {
          title: "Added",
          tight: true,
          value: (member) => member.added_at,
          cell: (member) => moment(member.added_at),
        },
        { title: "Actions", cell: (member) => <Remove tenant={tenant} member={member} /> },
      ]}
    />
  );
}

const TONES = { disabled: "bad", invited: "waiting", active: "good" } as const;

function stateOf(member: Member): keyof typeof TONES {
  if (member.disabled_at) return "disabled";
  return member.invited ? "invited" : "active";
}

function Remove({ tenant, member }: { tenant: string; member: Member }) {
  const queries = useQueryClient();
  const act = async () => {
    const params = { path: { person: member.person }, query: { tenant } };
    await data(api.DELETE("/v1/members/{person}", { params }));
    await changed(queries, "members");
  };
  return (
    <ConfirmButton
      label="Remove"
      describes={member.email}
      danger
      act={act}
      done={`${member.email} is no member of ${tenant} any more`}
    >
      <Text size="sm">
        {member.email} loses access to {tenant} immediately. The personal keys of this person for{" "}
        {tenant} are refused until the person is a member again; programs that use them stop. Keys
        of the tenant stay valid, also those that this person created.
      </Text>
    </ConfirmButton>
  );
}
