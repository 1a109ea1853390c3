// Every plugin with its channels, and how one comes to be.

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { may, useSession } from "../../api/session";
import { Command } from "../../parts/Command";
import { ago, count } from "../../parts/format";
import { Go } from "../../parts/Go";
import { Grid } from "../../parts/Grid";
import { Page } from "../../parts/Page";
import { Answer, Empty } from "../../parts/states";
import { Channels } from "./Channels";
import { pluginsQuery } from "./queries";
import { Upload } from "./Upload";
import { byName, type PluginVersions } from "./versions";

export function Plugins() {
  const session = useSession();
  const plugins = useQuery(pluginsQuery);
  return (
    <Page title="Plugins" about="What computes rewards. A run keeps the version it began with.">
      <Answer query={plugins} what="the plugins">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No plugins yet">
              Build and publish one, or upload its component below:
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
            <Go to="/plugins/$name" params={{ name }}>
              {name}
            </Go>
          ),
        },
        {
          title: "What it does",
          cell: ({ versions: [{ summary }] }) => (
            <Text size="sm" lineClamp={2} maw={420}>
              {summary || "–"}
            </Text>
          ),
        },
        { title: "Channels", cell: (plugin) => <Channels of={plugin} /> },
        {
          title: "Newest",
          cell: ({ name, versions: [{ version }] }) => (
            <Go to="/plugins/$name/$version" params={{ name, version }}>
              {version}
            </Go>
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
