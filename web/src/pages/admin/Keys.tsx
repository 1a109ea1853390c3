// The API keys of a tenant, which programs use to sign in.

import { Code, Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { ConfirmButton } from "../../parts/ConfirmButton";
import { Dot } from "../../parts/Dot";
import { ago, moment } from "../../parts/format";
import { SortedGrid } from "../../parts/SortedGrid";
import { Empty } from "../../parts/states";
import { CreateKey } from "./CreateKey";
import { keyStatus } from "./keys";
import { changed, type Key, keysQuery } from "./queries";
import { Rotate } from "./Rotate";
import { SearchedList, useListed } from "./SearchedList";

export function Keys({ tenant, platform }: { tenant: string; platform: boolean }) {
  const keys = useQuery(keysQuery(tenant, useListed()));
  return (
    <SearchedList
      query={keys}
      what="the keys"
      label="Name or prefix"
      actions={<CreateKey tenant={tenant} platform={platform} />}
      empty={
        <Empty title="No keys yet">
          Trainers and the command line need a key. Create one and set it as{" "}
          <code>ASSAY_API_KEY</code>.
        </Empty>
      }
    >
      {(items, more) => <Table tenant={tenant} keys={items} more={more} />}
    </SearchedList>
  );
}

function Table(props: { tenant: string; keys: Key[]; more: boolean }) {
  const { tenant, keys, more } = props;
  return (
    <SortedGrid
      caption={`Keys of ${tenant}`}
      rows={keys}
      rowKey={(key) => key.id}
      more={more}
      columns={[
        {
          title: "Name",
          tight: true,
          value: (key) => key.name || null,
          cell: (key) => key.name || "–",
        },
        { title: "Prefix", value: (key) => key.prefix, cell: (key) => <Code>{key.prefix}</Code> },
        {
          title: "Scopes",
          value: (key) => key.scopes.join(", "),
          cell: (key) => key.scopes.join(", "),
        },
        {
          title: "Plugins",
          value: (key) => key.plugins?.join(", ") ?? "all",
          cell: (key) => key.plugins?.join(", ") ?? "all",
        },
        {
          title: "Last used",
          tight: true,
          value: (key) => key.last_used_at,
          cell: (key) => (key.last_used_at ? ago(key.last_used_at) : "never"),
        },
        {
          title: "State",
          value: (key) => keyStatus(key, Date.now()).label,
          cell: (key) => <State of={key} />,
        },
        { title: "Actions", cell: (key) => <Actions tenant={tenant} of={key} /> },
      ]}
    />
  );
}

function State({ of }: { of: Key }) {
  const { label, tone, date } = keyStatus(of, Date.now());
  return (
    <div>
      <Dot tone={tone}>{label}</Dot>
      {date && (
        <Text size="xs" c="dimmed">
          {date.label} {moment(date.at)}
        </Text>
      )}
    </div>
  );
}

function Actions({ tenant, of }: { tenant: string; of: Key }) {
  const queries = useQueryClient();
  if (of.revoked_at) return null;
  const act = async () => {
    const params = { path: { id: of.id }, query: { tenant } };
    await data(api.POST("/v1/keys/{id}/revoke", { params }));
    await changed(queries, "keys");
  };
  const name = of.name || of.prefix;
  return (
    <Group gap="xs" wrap="nowrap">
      <Rotate tenant={tenant} of={of} />
      <ConfirmButton label="Revoke" describes={name} danger act={act}>
        <Text size="sm">
          Calls with the key {name} are refused from now on. This cannot be undone.
        </Text>
      </ConfirmButton>
    </Group>
  );
}
