// All people with an account, for platform administrators.

import { Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { Badge } from "../../parts/Badge";
import { ConfirmButton } from "../../parts/ConfirmButton";
import { FormDialog } from "../../parts/FormDialog";
import { moment } from "../../parts/format";
import { SortedGrid } from "../../parts/SortedGrid";
import { Empty } from "../../parts/states";
import { peopleExport } from "./exported";
import { InvitationLink } from "./OneTimeSecret";
import { changed, peopleQuery } from "./queries";
import { SearchedList, useListed } from "./SearchedList";

type Person = Schemas["Person"];

export function People() {
  const listed = useListed();
  const people = useQuery(peopleQuery(listed));
  return (
    <SearchedList
      query={people}
      what="the people"
      label="Email or name"
      exported={peopleExport(listed.q)}
      empty={<Empty title="No people yet">Invite people on the Members tab of a tenant.</Empty>}
    >
      {(items, more) => (
        <SortedGrid
          caption="People"
          rows={items}
          rowKey={(person) => person.id}
          more={more}
          columns={[
            { title: "Email", value: (person) => person.email, cell: (person) => person.email },
            {
              title: "Name",
              value: (person) => person.name || null,
              cell: (person) => person.name,
            },
            { title: "Member of", value: memberships, cell: memberships },
            { title: "Sign-in", value: ways, cell: ways },
            {
              title: "State",
              value: (person) => (person.disabled_at ? "disabled" : "active"),
              cell: (person) => <State person={person} />,
            },
            {
              title: "Created",
              tight: true,
              value: (person) => person.created_at,
              cell: (person) => moment(person.created_at),
            },
            { title: "Actions", cell: (person) => <Actions person={person} /> },
          ]}
        />
      )}
    </SearchedList>
  );
}

function memberships(person: Person): string {
  return person.memberships.map(({ tenant, role }) => `${tenant} (${role})`).join(", ") || "none";
}

function ways(person: Person): string {
  const ways = [person.password ? "password" : "", person.oidc ? "OpenID provider" : ""];
  return ways.filter(Boolean).join(", ") || "not set up";
}

function State({ person }: { person: Person }) {
  return person.disabled_at ? (
    <Badge tone="bad">disabled</Badge>
  ) : (
    <Badge tone="good">active</Badge>
  );
}

function Actions({ person }: { person: Person }) {
  const queries = useQueryClient();
  const path = { person: person.id };
  const disabled = !person.disabled_at;
  const set = async () => {
    await data(api.PATCH("/v1/people/{person}", { params: { path }, body: { disabled } }));
    await changed(queries, "people");
  };
  const invite = () => data(api.POST("/v1/people/{person}/invitation", { params: { path } }));
  return (
    <Group gap="xs" wrap="nowrap">
      <FormDialog
        label="New invitation"
        describes={person.email}
        submit="Create the link"
        act={invite}
        answer={({ email, invitation }) =>
          invitation && (
            <InvitationLink
              email={email}
              token={invitation.token}
              until={moment(invitation.expires_at)}
            />
          )
        }
      >
        <Text size="sm">
          {person.email} is signed out everywhere, and the current password stops working. All
          personal keys of this person are revoked; programs that use them stop. The link lets them
          set a new password.
        </Text>
      </FormDialog>
      <ConfirmButton
        label={disabled ? "Disable" : "Enable"}
        describes={person.email}
        danger={disabled}
        act={set}
        done={`${person.email} is ${disabled ? "disabled" : "enabled"}`}
      >
        <Text size="sm">
          {disabled
            ? `${person.email} is signed out everywhere and cannot sign in until they are enabled again. Until then, the personal keys of this person are refused; programs that use them stop. Keys of a tenant stay valid, also those that this person created.`
            : `${person.email} can sign in again, and personal keys that are not revoked work again.`}
        </Text>
      </ConfirmButton>
    </Group>
  );
}
