// One plugin: its channels and versions.

import { Group, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { may, useSession } from "../../api/session";
import { Badge } from "../../parts/Badge";
import { Chip } from "../../parts/Chip";
import { moment } from "../../parts/format";
import { Page } from "../../parts/Page";
import { SortedGrid } from "../../parts/SortedGrid";
import { Answer } from "../../parts/states";
import { TextLink } from "../../parts/TextLink";
import { Channels } from "./Channels";
import { Promote } from "./Promote";
import { channelsQuery, type Plugin, versionsQuery } from "./queries";
import { RollBack } from "./RollBack";
import { byName, type PluginVersions } from "./versions";
import { Yank } from "./Yank";

const route = getRouteApi("/shell/plugins/$name");

export function PluginPage() {
  const { name } = route.useParams();
  const versions = useQuery(versionsQuery(name));
  const summary = versions.data?.items[0]?.summary;
  return (
    <Page title={name} crumbs={[{ label: "Plugins", to: "/plugins" }]} about={summary}>
      <Answer query={versions} what="the versions">
        {({ items }) =>
          byName(items).map((plugin) => <Content key={plugin.name} plugin={plugin} />)
        }
      </Answer>
    </Page>
  );
}

function Content({ plugin }: { plugin: PluginVersions }) {
  const session = useSession();
  const channels = useQuery(channelsQuery(plugin.name));
  return (
    <Stack>
      <section>
        <Title order={2} mb="xs">
          Channels
        </Title>
        <Channels of={plugin} />
        {may(session, "plugins:promote") && (
          <Answer query={channels} what="the channels" height={40}>
            {({ items }) => (
              <Group gap="xs" mt="xs">
                {items.map((channel) => (
                  <RollBack key={channel.channel} name={plugin.name} channel={channel} />
                ))}
              </Group>
            )}
          </Answer>
        )}
      </section>
      <section>
        <Title order={2} mb="xs">
          Versions
        </Title>
        <Table plugin={plugin} />
      </section>
    </Stack>
  );
}

function Table({ plugin }: { plugin: PluginVersions }) {
  const session = useSession();
  const actions = {
    title: "Actions",
    cell: (version: Plugin) => (
      <Group gap="xs" wrap="nowrap">
        {!version.yanked && (
          <Promote plugin={version} channels={plugin.channels.map(({ channel }) => channel)} />
        )}
        {!version.yanked && <Yank plugin={version} />}
      </Group>
    ),
  };
  return (
    <SortedGrid
      caption={`Versions of ${plugin.name}`}
      rows={plugin.versions}
      rowKey={({ version }) => version}
      columns={[
        {
          title: "Version",
          opens: true,
          value: ({ version }) => version,
          cell: ({ name, version }) => (
            <TextLink to="/plugins/$name/$version" params={{ name, version }}>
              {version}
            </TextLink>
          ),
        },
        {
          title: "Channels",
          value: ({ channels }) => channels.join(", ") || null,
          cell: ({ channels }) => channels.join(", ") || "–",
        },
        {
          title: "Published",
          tight: true,
          value: ({ published_at }) => published_at,
          cell: ({ published_at }) => moment(published_at),
        },
        {
          title: "State",
          value: ({ yanked }) => (yanked == null ? "available" : "yanked"),
          cell: ({ yanked }) => <State yanked={yanked} />,
        },
        { title: "Digest", cell: ({ digest }) => <Chip text={digest} label="digest" /> },
        ...(may(session, "plugins:promote") ? [actions] : []),
      ]}
    />
  );
}

function State({ yanked }: { yanked: string | null | undefined }) {
  if (yanked == null) return <Badge tone="good">available</Badge>;
  return (
    <div>
      <Badge tone="bad">yanked</Badge>
      <span className="raw">{yanked}</span>
    </div>
  );
}
