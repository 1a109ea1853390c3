// Publishes a component from a file. The component contains its name and version.

import {
  Alert,
  Button,
  FileInput,
  Group,
  Paper,
  Progress,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { publish } from "../../api/upload";
import { bytes } from "../../parts/format";
import { Failed } from "../../parts/states";
import { TextLink } from "../../parts/TextLink";
import { type Plugin, pluginsChanged } from "./queries";

export function Upload() {
  const queries = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [cases, setCases] = useState<File[]>([]);
  const [sent, setSent] = useState(0);
  const sending = useMutation({
    mutationFn: (component: File) => publish(component, cases, setSent),
    onMutate: () => setSent(0),
    onSuccess: () => {
      // They belong to the component that was published.
      setCases([]);
      return pluginsChanged(queries);
    },
  });
  const choose = (chosen: File | null) => {
    sending.reset();
    setFile(chosen);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (file) sending.mutate(file);
  };
  return (
    <Paper withBorder p="md" maw={640} component="form" onSubmit={submit} aria-label="Upload">
      <Stack>
        <Title order={2}>Upload a component</Title>
        <FileInput
          label="Component"
          description="A .wasm file. Name and version are read from the file."
          placeholder="Choose a file"
          accept=".wasm,application/wasm"
          clearable
          clearButtonProps={{ "aria-label": "Remove the file" }}
          value={file}
          onChange={choose}
        />
        <FileInput
          label="Golden cases"
          description="YAML files, if there are any. The server runs them first."
          placeholder="Choose files"
          accept=".yaml,.yml"
          multiple
          clearable
          clearButtonProps={{ "aria-label": "Remove the golden cases" }}
          value={cases}
          onChange={setCases}
        />
        <Group>
          <Button type="submit" disabled={!file} loading={sending.isPending}>
            Publish
          </Button>
        </Group>
        {sending.isPending && file && <Sending file={file} sent={sent} />}
        {sending.isError && <Failed thrown={sending.error} />}
        {sending.isSuccess && <Published plugin={sending.data} />}
      </Stack>
    </Paper>
  );
}

function Sending({ file, sent }: { file: File; sent: number }) {
  const all = sent >= 1;
  return (
    <Stack gap={4}>
      <Text size="sm" role="status">
        {all
          ? "Uploaded. Compiling takes a few seconds, and golden cases may take minutes…"
          : `${bytes(Math.round(sent * file.size))} of ${bytes(file.size)} uploaded`}
      </Text>
      <Progress value={sent * 100} aria-label="Upload progress" color="cyan.9" />
    </Stack>
  );
}

function Published({ plugin: { name, version, channels } }: { plugin: Plugin }) {
  return (
    <Alert color="green" variant="outline" role="status" title={`${name}@${version} is published`}>
      <Text size="sm">
        {channels.length > 0
          ? `Channels that point to it: ${channels.join(", ")}. `
          : "No channel points to it yet. "}
        <TextLink to="/plugins/$name/$version" params={{ name, version }}>
          View and promote
        </TextLink>
      </Text>
    </Alert>
  );
}
