// Changes the user's password. Their other sessions end.

import { Alert, Button, Paper, PasswordInput, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data, ProblemError } from "../../api/client";
import { Page } from "../../parts/Page";
import { Failed } from "../../parts/states";
import { NewPassword } from "./NewPassword";

export function Password() {
  const [current, setCurrent] = useState("");
  const [chosen, setChosen] = useState("");
  const changing = useMutation({
    mutationFn: () => data(api.POST("/v1/session/password", { body: { current, new: chosen } })),
    onSuccess: () => {
      setCurrent("");
      setChosen("");
    },
  });
  const wrong = changing.isError && ProblemError.from(changing.error).field === "current";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    changing.mutate();
  };
  return (
    <Page title="Change password">
      <Paper withBorder p="md" maw={420} component="form" onSubmit={submit}>
        <Stack>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            value={current}
            error={wrong && "The current password is wrong."}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
          <NewPassword label="New password" value={chosen} onChange={setChosen} />
          {changing.isError && !wrong && <Failed thrown={changing.error} />}
          {changing.isSuccess && (
            <Alert color="green" variant="outline" role="status" title="Password changed" />
          )}
          <Button type="submit" loading={changing.isPending}>
            Change password
          </Button>
        </Stack>
      </Paper>
    </Page>
  );
}
