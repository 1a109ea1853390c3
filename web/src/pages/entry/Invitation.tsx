// Accepts an invitation by setting a password, once. The token follows the `#` of the URL, so no
// server and no log receives it.

import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, data } from "../../api/client";
import { useEnter } from "../../api/session";
import { Failed } from "../../parts/states";
import { Entry } from "./Entry";
import { NewPassword } from "./NewPassword";

export function Invitation() {
  const [token, setToken] = useState(() => window.location.hash.slice(1));
  const [password, setPassword] = useState("");
  const enter = useEnter();
  const navigate = useNavigate();
  const accepting = useMutation({
    mutationFn: () => data(api.POST("/v1/invitations/accept", { body: { token, password } })),
    onSuccess: async (session) => {
      await enter(session);
      void navigate({ to: "/" });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accepting.mutate();
  };
  return (
    <Entry title="Welcome to Assay" about="Choose a password to finish your registration.">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Invitation token"
            autoComplete="off"
            required
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <NewPassword label="Password" value={password} onChange={setPassword} />
          {accepting.isError && <Failed thrown={accepting.error} />}
          <Button type="submit" loading={accepting.isPending}>
            Set password
          </Button>
        </Stack>
      </form>
    </Entry>
  );
}
