// Something that is shown this once: a key's secret, an invitation's link.

import { Alert, Stack, Text } from "@mantine/core";
import { Copy } from "../../parts/Copy";

export function Once({ title, text, about }: { title: string; text: string; about: string }) {
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

/** Of an invitation. The token stands behind the `#`, which browsers send to no server. */
export function InvitationOnce({
  email,
  token,
  until,
}: Record<"email" | "token" | "until", string>) {
  return (
    <Once
      title={`Send this link to ${email}`}
      text={`${window.location.origin}/invitation#${token}`}
      about={`It is shown this once, works once, and until ${until}. With it a password is set.`}
    />
  );
}
