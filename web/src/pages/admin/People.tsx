// Everybody who can sign in, for who administers the platform.

import { Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { Ask } from "../../parts/Ask";
import { Dot } from "../../parts/Dot";
import { FormDialog } from "../../parts/FormDialog";
import { moment } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { Answer, Empty } from "../../parts/states";
import { InvitationOnce } from "./Once";
import { changed, peopleQuery } from "./queries";

type Person = Schemas["Person"];

export function People() {
  const people = useQuery(peopleQuery);
  return (
    <Answer query={people} what="the people">
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nobody yet">Invite members of a tenant on its page.</Empty>
        ) : (
          <Grid
            caption="People"
            rows={items}
            rowKey={(person) => person.id}
            columns={[
              { title: "Email", cell: (person) => person.email },
              { title: "Name", cell: (person) => person.name },
              { title: "Member of", cell: memberships },
              { title: "Signs in by", cell: ways },
              { title: "State", cell: (person) => <State person={person} /> },
              { title: "Since", tight: true, cell: (person) => moment(person.created_at) },
              { title: "Actions", cell: (person) => <Actions person={person} /> },
            ]}
          />
        )
      }
    </Answer>
  );
}

function memberships(person: Person): string {
  return person.memberships.map(({ tenant, role }) => `${tenant} (${role})`).join(", ") || "none";
}

function ways(person: Person): string {
  const ways = [person.password ? "password" : "", person.oidc ? "provider" : ""];
  return ways.filter(Boolean).join(", ") || "not yet";
}

function State({ person }: { person: Person }) {
  return person.disabled_at ? <Dot tone="bad">disabled</Dot> : <Dot tone="good">may sign in</Dot>;
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
        label="New link"
        describes={person.email}
        submit="Make the link"
        act={invite}
        answer={({ email, invitation }) =>
          invitation && (
            <InvitationOnce
              email={email}
              token={invitation.token}
              until={moment(invitation.expires_at)}
            />
          )
        }
      >
        <Text size="sm">
          {person.email} is signed out everywhere and loses the password there may be; with the link
          another one is set.
        </Text>
      </FormDialog>
      <Ask
        label={disabled ? "Disable" : "Enable"}
        describes={person.email}
        danger={disabled}
        act={set}
      >
        <Text size="sm">
          {disabled
            ? `${person.email} is signed out everywhere and cannot sign in until enabled again.`
            : `${person.email} may sign in again.`}
        </Text>
      </Ask>
    </Group>
  );
}
