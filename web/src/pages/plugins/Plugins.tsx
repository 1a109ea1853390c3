// All plugins with their channels, and a form that uploads one.

import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { may, useSession } from "../../api/session";
import { BookLink } from "../../parts/BookLink";
import { Command } from "../../parts/Command";
import { Export } from "../../parts/Export";
import { ago, count } from "../../parts/format";
import { Page } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { SortedGrid } from "../../parts/SortedGrid";
import { present } from "../../parts/search";
import { Answer, Empty, NoMatch } from "../../parts/states";
import { TextFilter } from "../../parts/TextFilter";
import { TextLink } from "../../parts/TextLink";
import { Channels } from "./Channels";
import {
  PLUGIN_COLUMNS,
  type Plugin,
  type PluginsFilter,
  pluginsExport,
  pluginsQuery,
} from "./queries";
import { Upload } from "./Upload";
import { byName } from "./versions";

const route = getRouteApi("/shell/plugins");

export function Plugins() {
  const session = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const plugins = useQuery(pluginsQuery(search));
  const go = (change: { [K in keyof PluginsFilter]: PluginsFilter[K] | undefined }) =>
    void navigate({ search: present({ ...search, ...change }) });
  return (
    <Page
      title="Plugins"
      about="Plugins compute rewards. A run keeps the version that it started with."
    >
      <Group align="end">
        <TextFilter label="Name" value={search.q} onChange={(q) => go({ q, after: undefined })} />
        <Export name="plugins" columns={PLUGIN_COLUMNS} read={pluginsExport(search)} />
      </Group>
      <Answer query={plugins} what="the plugins">
        {({ items, next }) =>
          items.length === 0 && search.q ? (
            <NoMatch
              title="No matching plugins"
              clear={() => go({ q: undefined, after: undefined })}
            />
          ) : items.length === 0 ? (
            <Empty title="No plugins yet">
              Build and publish a plugin, or upload its component below:
              <Command text="assay plugin publish PLUGIN.wasm --channel prod" />
              <BookLink to="plugins/authoring">How to write one</BookLink>
            </Empty>
          ) : (
            <Stack gap="sm">
              <Table plugins={items} more={next !== undefined || search.after !== undefined} />
              <Pager
                after={search.after}
                next={next}
                onGo={(after) => go({ after })}
                rows={search.rows}
                onRows={(rows) => go({ after: undefined, rows })}
              />
            </Stack>
          )
        }
      </Answer>
      {may(session, "plugins:publish") && <Upload />}
    </Page>
  );
}

function Table({ plugins, more }: { plugins: Plugin[]; more: boolean }) {
  const rows = useMemo(() => byName(plugins), [plugins]);
  return (
    <SortedGrid
      caption="Plugins"
      rows={rows}
      rowKey={({ name }) => name}
      more={more}
      columns={[
        {
          title: "Name",
          opens: true,
          value: ({ name }) => name,
          cell: ({ name }) => (
            <TextLink to="/plugins/$name" params={{ name }}>
              {name}
            </TextLink>
          ),
        },
        {
          title: "Summary",
          value: ({ versions: [{ summary }] }) => summary || null,
          cell: ({ versions: [{ summary }] }) => (
            <Text size="sm" lineClamp={2} maw={420}>
              {summary || "–"}
            </Text>
          ),
        },
        { title: "Channels", cell: (plugin) => <Channels of={plugin} /> },
        {
          title: "Latest version",
          value: ({ versions: [{ version }] }) => version,
          cell: ({ name, versions: [{ version }] }) => (
            <TextLink to="/plugins/$name/$version" params={{ name, version }}>
              {version}
            </TextLink>
          ),
        },
        {
          title: "Versions",
          number: true,
          value: ({ versions }) => versions.length,
          cell: ({ versions }) => count(versions.length),
        },
        {
          title: "Published",
          tight: true,
          value: ({ versions: [newest] }) => newest.published_at,
          cell: ({ versions: [newest] }) => ago(newest.published_at),
        },
      ]}
    />
  );
}
