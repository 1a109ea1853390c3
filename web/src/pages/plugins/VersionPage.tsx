// One version of a plugin: its properties and statistics.

import { Alert, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { may, useSession } from "../../api/session";
import { Chip } from "../../parts/Chip";
import { Facts } from "../../parts/Facts";
import { bytes, count, moment, reward, span } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { indented } from "../../parts/json";
import { Page } from "../../parts/Page";
import { Answer, Empty } from "../../parts/states";
import { TextLink } from "../../parts/TextLink";
import { GoldenCases } from "./GoldenCases";
import { Promote } from "./Promote";
import { type Plugin, type Version, versionsQuery } from "./queries";
import { Stats } from "./Stats";
import { Yank } from "./Yank";

const route = getRouteApi("/shell/plugins/$name/$version");

export function VersionPage() {
  const { name, version } = route.useParams();
  const versions = useQuery(versionsQuery(name));
  const plugin = versions.data?.items.find((one) => one.version === version);
  const channels = versions.data?.items.flatMap((one) => one.channels) ?? [];
  return (
    <Page
      title={`${name}@${version}`}
      crumbs={[
        { label: "Plugins", to: "/plugins" },
        { label: name, to: `/plugins/${name}` },
      ]}
      about={plugin?.summary}
      actions={plugin && <Actions plugin={plugin} channels={channels} />}
    >
      <Answer query={versions} what="the version">
        {() =>
          plugin ? (
            <Content plugin={plugin} />
          ) : (
            <Empty title={`${name} has no version ${version}`} />
          )
        }
      </Answer>
    </Page>
  );
}

function Actions({ plugin, channels }: { plugin: Plugin; channels: string[] }) {
  const session = useSession();
  const mayChange = may(session, "plugins:promote") && !plugin.yanked;
  return (
    <>
      <TextLink to="/samples" search={{ plugin: `${plugin.name}@${plugin.version}` }}>
        Samples
      </TextLink>
      {may(session, "batches:write") && (
        <TextLink
          to="/plugins/$name/$version/compare"
          params={{ name: plugin.name, version: plugin.version }}
        >
          Compare
        </TextLink>
      )}
      {mayChange && <Promote plugin={plugin} channels={channels} />}
      {mayChange && <Yank plugin={plugin} />}
    </>
  );
}

function Content({ plugin }: { plugin: Version }) {
  return (
    <Stack>
      {plugin.yanked != null && (
        <Alert color="red" variant="outline" title="Yanked: new runs cannot use this version">
          <span className="raw">{plugin.yanked}</span>
        </Alert>
      )}
      <Facts
        items={[
          { label: "Channels", value: plugin.channels.join(", ") || "none" },
          {
            label: "Published",
            value: moment(plugin.published_at),
            note: plugin.published_by && `by ${plugin.published_by}`,
          },
          {
            label: "Deterministic",
            value: plugin.deterministic ? "yes" : "no",
            note: plugin.deterministic ? "equal requests get equal results" : "results may differ",
          },
          { label: "Reward on timeout", value: reward(plugin.timeout_reward) },
          {
            label: "Digest",
            value: <Chip text={plugin.digest} label="digest" />,
          },
        ]}
      />
      <section>
        <Title order={2} mb="xs">
          Stages
        </Title>
        <Stages plugin={plugin} />
      </section>
      <section aria-label="Golden cases">
        <Title order={2} mb="xs">
          Golden cases
        </Title>
        <GoldenCases plugin={plugin} />
      </section>
      <Stats />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Schema title="Settings" of={plugin.settings_schema} />
        <Schema title="Label" of={plugin.label_schema} />
      </SimpleGrid>
    </Stack>
  );
}

function Stages({ plugin }: { plugin: Plugin }) {
  return (
    <Grid
      caption="Stages"
      rows={plugin.stages}
      rowKey={({ name }) => name}
      columns={[
        { title: "Stage", cell: ({ name }) => name },
        { title: "Pool", cell: ({ pool }) => pool },
        { title: "Timeout", number: true, cell: (stage) => span(stage.timeout_ms) },
        { title: "Max memory", number: true, cell: (stage) => bytes(stage.memory_bytes_max) },
        { title: "Max retries", number: true, cell: (stage) => count(stage.retries_max) },
      ]}
    />
  );
}

function Schema({ title, of }: { title: string; of: string | undefined }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={`${title} schema`}>
      <Title order={2} mb="xs">
        {title} schema
      </Title>
      {of === undefined ? (
        <Text size="sm" c="dimmed">
          The plugin declares none.
        </Text>
      ) : (
        <pre className="raw">{indented(of)}</pre>
      )}
    </Paper>
  );
}
