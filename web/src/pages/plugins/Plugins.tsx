// All plugins with their channels, and a form that uploads one.

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { may, useSession } from "../../api/session";
import { Command } from "../../parts/Command";
import { ago, count } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { Page } from "../../parts/Page";
import { Answer, Empty } from "../../parts/states";
import { TextLink } from "../../parts/TextLink";
import { Channels } from "./Channels";
import { pluginsQuery } from "./queries";
import { Upload } from "./Upload";
import { byName, type PluginVersions } from "./versions";

export function Plugins() {
  const session = useSession();
  const plugins = useQuery(pluginsQuery);
  return (
    <Page
      title="Plugins"
      about="Plugins compute rewards. A run keeps the version that it started with."
    >
      <Answer query={plugins} what="the plugins">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No plugins yet">
              Build and publish a plugin, or upload its component below:
              <Command text="assay plugin publish PLUGIN.wasm --channel prod" />
            </Empty>
          ) : (
            <Table plugins={byName(items)} />
          )
        }
      </Answer>
      {may(session, "plugins:publish") && <Upload />}
    </Page>
  );
}

function Table({ plugins }: { plugins: PluginVersions[] }) {
  return (
    <Grid
      caption="Plugins"
      rows={plugins}
      rowKey={({ name }) => name}
      columns={[
        {
          title: "Name",
          cell: ({ name }) => (
            <TextLink to="/plugins/$name" params={{ name }}>
              {name}
            </TextLink>
          ),
        },
        {
          title: "Summary",
          cell: ({ versions: [{ summary }] }) => (
            <Text size="sm" lineClamp={2} maw={420}>
              {summary || "–"}
            </Text>
          ),
        },
        { title: "Channels", cell: (plugin) => <Channels of={plugin} /> },
        {
          title: "Latest version",
          cell: ({ name, versions: [{ version }] }) => (
            <TextLink to="/plugins/$name/$version" params={{ name, version }}>
              {version}
            </TextLink>
          ),
        },
        { title: "Versions", number: true, cell: ({ versions }) => count(versions.length) },
        {
          title: "Published",
          tight: true,
          cell: ({ versions: [newest] }) => ago(newest.published_at),
        },
      ]}
    />
  );
}
