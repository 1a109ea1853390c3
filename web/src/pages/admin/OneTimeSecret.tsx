// Secrets that are shown once: the secret of a key, an invitation link.

import { Alert, Stack, Text } from "@mantine/core";
import { Copy } from "../../parts/Copy";

export function OneTimeSecret({
  title,
  text,
  about,
}: {
  title: string;
  text: string;
  about: string;
}) {
  return (
    <Alert color="yellow" variant="outline" title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{about}</Text>
        <pre className="raw">{text}</pre>
        <Copy text={text} label="Copy" />
      </Stack>
    </Alert>
  );
}

/** Shows an invitation link. The token follows the `#`, which browsers do not send to servers. */
export function InvitationLink({
  email,
  token,
  until,
}: Record<"email" | "token" | "until", string>) {
  return (
    <OneTimeSecret
      title={`Send this link to ${email}`}
      text={`${window.location.origin}/invitation#${token}`}
      about={`One-time link to set a password, valid until ${until}. Copy it now; you cannot see it again.`}
    />
  );
}
