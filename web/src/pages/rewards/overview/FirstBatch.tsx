// The steps to a first batch, shown while the tenant has never had one.

import { List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSession } from "../../../api/session";
import { BookLink } from "../../../parts/BookLink";
import { Command } from "../../../parts/Command";
import { Answer, Empty } from "../../../parts/states";
import { TextLink } from "../../../parts/TextLink";
import { firstPluginsQuery } from "../queries";
import { firstPlugin, whoHelps } from "./firstSteps";

/** The dashboard and the API share one origin. */
function curl(plugin: string): string {
  const body = JSON.stringify({ plugin, response: "\\boxed{42}", label: "42" });
  return [
    `curl ${window.location.origin}/v1/rewards \\`,
    '  -H "Authorization: Bearer $ASSAY_API_KEY" -H "Content-Type: application/json" \\',
    `  -d '${body}'`,
  ].join("\n");
}

export function FirstBatch() {
  const plugins = useQuery(firstPluginsQuery);
  return (
    <Answer query={plugins} what="the plugins" height={240}>
      {({ items }) => <Steps plugin={firstPlugin(items)} />}
    </Answer>
  );
}

function Steps({ plugin }: { plugin: ReturnType<typeof firstPlugin> }) {
  const { tenant, scopes } = useSession();
  const { publishes, makesKeys, submits } = whoHelps(scopes);
  return (
    <Empty title={`${tenant} has no batches yet`}>
      <List type="ordered" size="sm" spacing="xs" w="100%">
        <List.Item>
          {plugin ? (
            `Plugin: ${plugin} is published in this tenant.`
          ) : publishes ? (
            <>
              Plugin: publish one on the page <TextLink to="/plugins">Plugins</TextLink>.
            </>
          ) : (
            `Plugin: none is published in ${tenant}. Ask a publisher of the tenant to add one.`
          )}
        </List.Item>
        <List.Item>
          Key: create one under <TextLink to="/account/keys">Your keys</TextLink> and set it as{" "}
          <code>ASSAY_API_KEY</code>.
          {makesKeys && (
            <>
              {" "}
              Keys for shared programs are under{" "}
              <TextLink to="/admin" search={{ tab: "keys" }}>
                Admin, Keys
              </TextLink>
              .
            </>
          )}
        </List.Item>
        <List.Item>
          {submits
            ? "Batch: score a file with one JSON object per line, or send one request."
            : "Batch: your role may read only. A trainer scores a file, or sends one request."}
        </List.Item>
      </List>
      {plugin && (
        <>
          <Text size="sm" mt="xs">
            Score a file:
          </Text>
          <Command text={`assay score FILE.jsonl --plugin ${plugin}`} />
          <Text size="sm" mt="xs">
            Send one request and get its reward in the response:
          </Text>
          <Command text={curl(plugin)} />
          <BookLink to="trainers">Five minutes for your trainer</BookLink>
        </>
      )}
    </Empty>
  );
}
