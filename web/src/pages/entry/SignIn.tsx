// Sign-in by password or OpenID provider, and creation of the first administrator.

import { Alert, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, data } from "../../api/client";
import { lastTenant } from "../../api/lastTenant";
import { type Session, useEnter } from "../../api/session";
import { present } from "../../parts/search";
import { Answer, Failed } from "../../parts/states";
import { Entry } from "./Entry";
import { NewPassword } from "./NewPassword";
import { refusal, startOf } from "./oidc";

const route = getRouteApi("/sign-in");

export function SignIn() {
  const { problem, back } = route.useSearch();
  const methods = useQuery({
    queryKey: ["session", "methods"],
    queryFn: () => data(api.GET("/v1/session/methods")),
  });
  const first = methods.data?.bootstrap === true;
  return (
    <Entry
      title={first ? "Welcome to Assay" : "Sign in to Assay"}
      {...(first
        ? {
            about:
              "This platform has no administrator yet. Create the first one with the token from the " +
              "file bootstrap.token in the server's data folder.",
          }
        : {})}
    >
      {problem && <Alert color="red" variant="outline" title={refusal(problem)} role="alert" />}
      <Answer query={methods} what="the sign-in methods">
        {(answer) => (
          <Stack>
            {answer.bootstrap ? <FirstAdministrator /> : <ByPassword />}
            {answer.oidc && !answer.bootstrap && (
              <Button component="a" href={startOf(back, lastTenant())} variant="default">
                Sign in with your organisation
              </Button>
            )}
          </Stack>
        )}
      </Answer>
    </Entry>
  );
}

function useSigningIn<T>(call: (values: T) => Promise<Session>) {
  const enter = useEnter();
  const router = useRouter();
  const { back } = route.useSearch();
  return useMutation({
    mutationFn: call,
    onSuccess: async (session) => {
      await enter(session);
      router.history.push(back ?? "/");
    },
  });
}

function ByPassword() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const signingIn = useSigningIn((body: { email: string; password: string }) =>
    data(api.POST("/v1/session", { body: { ...body, ...present({ tenant: lastTenant() }) } })),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signingIn.mutate({ email, password });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {signingIn.isError && <Failed thrown={signingIn.error} />}
        <Button type="submit" loading={signingIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function FirstAdministrator() {
  // The server prints a link with the token after the `#`, which is not sent to any server.
  const [token] = useState(() => window.location.hash.slice(1));
  const [values, setValues] = useState({ token, email: "", name: "", password: "" });
  const set = (name: keyof typeof values) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setValues((before) => ({ ...before, [name]: value }));
  };
  const making = useSigningIn((body: typeof values) => data(api.POST("/v1/bootstrap", { body })));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    making.mutate(values);
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Token"
          description="The token works once."
          autoComplete="off"
          required
          value={values.token}
          onChange={set("token")}
        />
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={values.email}
          onChange={set("email")}
        />
        <TextInput label="Name" autoComplete="name" value={values.name} onChange={set("name")} />
        <NewPassword
          label="Password"
          value={values.password}
          onChange={(password) => setValues((before) => ({ ...before, password }))}
        />
        {making.isError && <Failed thrown={making.error} />}
        <Button type="submit" loading={making.isPending}>
          Create the administrator
        </Button>
      </Stack>
    </form>
  );
}
