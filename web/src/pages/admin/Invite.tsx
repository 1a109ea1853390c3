// Adds a member to a tenant. A person without an account gets an invitation link.

import { NativeSelect, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { FormDialog } from "../../parts/FormDialog";
import { useFields } from "../../parts/fields";
import { moment } from "../../parts/format";
import { InvitationLink } from "./OneTimeSecret";
import { changed, type Member, type Role } from "./queries";
import { ROLES, roleOf } from "./roles";

const FRESH = { email: "", name: "", role: "trainer" as Role };

const PATHS = { email: "email", name: "name" };

function validate({ email }: typeof FRESH) {
  return /^[^@\s]+@[^@\s]+$/.test(email.trim())
    ? {}
    : { email: "Enter an address such as ada@example.com." };
}

export function Invite({ tenant }: { tenant: string }) {
  const queries = useQueryClient();
  const { form, fields } = useFields(FRESH, PATHS, validate);
  const act = async () => {
    const added = await data(api.POST("/v1/members", { body: { tenant, ...form.values } }));
    void changed(queries, "members");
    return added;
  };
  return (
    <FormDialog
      label="Invite a member"
      submit="Invite"
      variant="filled"
      fields={fields}
      act={act}
      onOpen={form.reset}
      answer={(added) => <Added member={added} />}
    >
      <TextInput
        label="Email"
        type="email"
        required
        data-autofocus
        {...form.getInputProps("email")}
      />
      <TextInput
        label="Name"
        description="For a person who has no account yet."
        {...form.getInputProps("name")}
      />
      <NativeSelect
        label="Role"
        {...form.getInputProps("role")}
        data={ROLES.map((one) => ({ value: one.role, label: `${one.role}: ${one.may}` }))}
        onChange={(event) => form.setFieldValue("role", roleOf(event.currentTarget.value))}
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
