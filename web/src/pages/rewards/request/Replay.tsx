// Runs the request again with the same or another version, and compares the outcomes.

import { Button, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, data, type Schemas } from "../../../api/client";
import { Badge } from "../../../parts/Badge";
import { Choice } from "../../../parts/Choice";
import { Command } from "../../../parts/Command";
import { span } from "../../../parts/format";
import { Failed } from "../../../parts/states";
import { versionsQuery } from "../../plugins/queries";
import { RequestLink } from "../Links";
import type { Request } from "../queries";
import { Section } from "../Section";
import { replayCommand } from "./commands";
import { OutcomeBody } from "./OutcomeView";

const route = getRouteApi("/shell/requests/$request");

export function Replay(props: { request: Request; context: Schemas["RequestContext"] }) {
  const { request, context } = props;
  const { version } = route.useSearch();
  const navigate = route.useNavigate();
  const at = context.plugin.lastIndexOf("@");
  const [name, own] = [context.plugin.slice(0, at), context.plugin.slice(at + 1)];
  const versions = useQuery(versionsQuery(name));
  const replaying = useMutation({
    mutationFn: () =>
      data(
        api.POST("/v1/requests/{id}/replay", {
          params: { path: { id: request.id } },
          body: version ? { version } : {},
        }),
      ),
  });
  const others = (versions.data?.items ?? []).filter((other) => other.version !== own);
  const choices = [
    { value: "", label: `${own} (original)` },
    ...others.map((other) => ({
      value: other.version,
      label: other.yanked ? `${other.version} (yanked)` : other.version,
    })),
  ];
  const choose = (value: string) => {
    replaying.reset();
    void navigate({ search: value ? { version: value } : {}, replace: true, resetScroll: false });
  };
  return (
    <Section
      title="Replay"
      about="Runs the request again with the same inputs, settings and seed. A replay is counted like any other request."
    >
      <Group gap="sm" align="end" className="filters">
        <Choice
          size="xs"
          label="Compare with version"
          data={choices}
          value={version ?? ""}
          onChange={choose}
        />
        <Button
          size="xs"
          variant="default"
          loading={replaying.isPending}
          onClick={() => replaying.mutate()}
        >
          Replay
        </Button>
      </Group>
      <Command text={replayCommand(request.id, version)} />
      {replaying.isError && <Failed thrown={replaying.error} />}
      {replaying.isSuccess && <Compared replay={replaying.data} />}
    </Section>
  );
}

function Compared({ replay }: { replay: Schemas["Replay"] }) {
  return (
    <Stack gap="sm" role="status">
      {replay.agrees ? (
        <Badge tone="good">Same result</Badge>
      ) : (
        <Badge tone="bad">{`Different result: ${replay.differences.join(", ")}`}</Badge>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <OutcomeSide title="Recorded" side={replay.recorded} />
        <OutcomeSide title="Replayed" side={replay.replayed} />
      </SimpleGrid>
    </Stack>
  );
}

function OutcomeSide({ title, side }: { title: string; side: Schemas["ReplaySide"] }) {
  return (
    <Stack gap="xs">
      <Title order={3} size="sm">
        {title}: {side.plugin}
      </Title>
      <OutcomeBody outcome={side.outcome} which={title.toLowerCase()} />
      <Text size="sm">
        {side.stages
          .map(
            ({ stage, queued_ms, ran_ms }) =>
              `${stage}: waited ${span(queued_ms)}, ran ${span(ran_ms)}`,
          )
          .join(" · ")}
      </Text>
      <RequestLink id={side.id}>Open this request</RequestLink>
    </Stack>
  );
}
