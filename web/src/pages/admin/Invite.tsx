// Adds a member to a tenant. A person without an account gets an invitation link.

import { NativeSelect, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { moment } from "../../parts/format";
import { InvitationLink } from "./OneTimeSecret";
import { changed, type Member, type Role } from "./queries";
import { ROLES, roleOf } from "./roles";

export function Invite({ tenant }: { tenant: string }) {
  const queries = useQueryClient();
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("trainer");
  const act = async () => {
    const added = await data(api.POST("/v1/members", { body: { tenant, email, name, role } }));
    await changed(queries, "members");
    return added;
  };
  const clear = () => {
    setEmail("");
    setName("");
    setRole("trainer");
  };
  return (
    <FormDialog
      label="Invite a member"
      submit="Invite"
      variant="filled"
      act={act}
      onOpen={clear}
      answer={(added) => <Added member={added} />}
    >
      <TextInput
        label="Email"
        type="email"
        required
        data-autofocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <TextInput
        label="Name"
        description="For a person who has no account yet."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <NativeSelect
        label="Role"
        value={role}
        data={ROLES.map((one) => ({ value: one.role, label: `${one.role}: ${one.may}` }))}
        onChange={(event) => setRole(roleOf(event.currentTarget.value))}
      />
    </FormDialog>
  );
}

function Added({ member }: { member: Member }) {
  const { email, tenant, role, invitation } = member;
  if (!invitation) {
    return (
      <Text size="sm">
        {email} now has the role {role} in {tenant}. Their sign-in stays the same.
      </Text>
    );
  }
  const until = moment(invitation.expires_at);
  return <InvitationLink email={email} token={invitation.token} until={until} />;
}
