// The API keys of a tenant, which programs use to sign in.

import { Code, Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, data, type Schemas } from "../../api/client";
import { may, useSession } from "../../api/session";
import { Badge } from "../../parts/Badge";
import { BookLink } from "../../parts/BookLink";
import { ConfirmButton } from "../../parts/ConfirmButton";
import { ago, moment } from "../../parts/format";
import type { Column } from "../../parts/Grid";
import { SortedGrid } from "../../parts/SortedGrid";
import { Empty } from "../../parts/states";
import { CreateKey } from "./CreateKey";
import { keysExport } from "./exported";
import { keyStatus, SCOPES } from "./keys";
import { changed, type Key, keysQuery } from "./queries";
import { Rotate } from "./Rotate";
import { SearchedList, useListed } from "./SearchedList";

export function Keys({ tenant, platform }: { tenant: string; platform: boolean }) {
  const listed = useListed();
  const keys = useQuery(keysQuery(tenant, listed));
  const session = useSession();
  const offered = SCOPES.map(({ scope }) => scope).filter((scope) =>
    scope === "platform:*" ? platform && may(session, scope) : true,
  );
  const make = (call: Schemas["CreatePersonalKey"]) =>
    data(api.POST("/v1/keys", { body: { tenant, ...call } }));
  return (
    <SearchedList
      query={keys}
      what="the keys"
      label="Name or prefix"
      exported={keysExport(tenant, listed.q)}
      actions={<CreateKey offered={offered} make={make} />}
      empty={
        <Empty title="No keys yet">
          Trainers and the command line need a key. Create one and set it as{" "}
          <code>ASSAY_API_KEY</code>.<BookLink to="operations/tenants">More about keys</BookLink>
        </Empty>
      }
    >
      {(items, more) => (
        <KeyTable
          caption={`Keys of ${tenant}`}
          keys={items}
          more={more}
          person
          actions={(key) => <Actions tenant={tenant} of={key} />}
        />
      )}
    </SearchedList>
  );
}

export function KeyTable(props: {
  caption: string;
  keys: Key[];
  more: boolean;
  /** Shows whose personal key each is. */
  person?: boolean;
  actions: (key: Key) => ReactNode;
}) {
  const { caption, keys, more, person, actions } = props;
  const personColumn: Column<Key> = {
    title: "Person",
    hint: "Owner of a personal key; other keys belong to the tenant",
    value: (key) => key.person,
    cell: (key) => key.person ?? "–",
  };
  return (
    <SortedGrid
      caption={caption}
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
        ...(person ? [personColumn] : []),
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
        { title: "Actions", cell: actions },
      ]}
    />
  );
}

function State({ of }: { of: Key }) {
  const { label, tone, date } = keyStatus(of, Date.now());
  return (
    <div>
      <Badge tone={tone}>{label}</Badge>
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
  return (
    <Group gap="xs" wrap="nowrap">
      <Rotate tenant={tenant} of={of} />
      <Revoke of={of} act={act} />
    </Group>
  );
}

export function Revoke({ of, act }: { of: Key; act: () => Promise<void> }) {
  const name = of.name || of.prefix;
  return (
    <ConfirmButton
      label="Revoke"
      describes={name}
      danger
      act={act}
      done={`The key ${name} is revoked`}
    >
      <Text size="sm">
        Calls with the key {name} are refused from now on. This cannot be undone.
      </Text>
    </ConfirmButton>
  );
}
