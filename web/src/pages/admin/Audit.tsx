// The audit log: administrative actions with their changes, newest first.

import { Anchor, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Export } from "../../parts/Export";
import { moment } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { present } from "../../parts/search";
import { Answer, Empty } from "../../parts/states";
import { differences } from "./diff";
import { AUDIT_COLUMNS, type AuditEntry, auditExport, auditQuery } from "./queries";
import { type AdminSearch, useAdminSearch } from "./tabs";

/** Shows the log of one tenant; without a tenant, of the platform and all tenants. */
export function Audit({ tenant }: { tenant?: string }) {
  const { search, set } = useAdminSearch();
  const { action, actor, since, before } = search;
  const from = since && `${since}T00:00:00Z`;
  const filter = present({ tenant, action, actor, since: from });
  const entries = useQuery(auditQuery({ ...filter, ...present({ before }) }));
  const filtered = Boolean(action || actor || since);
  return (
    <Stack>
      <Filters key={`${action} ${actor} ${since}`} search={search} set={set} />
      <Group>
        <Export name="audit" columns={AUDIT_COLUMNS} read={auditExport(filter)} />
      </Group>
      <Answer query={entries} what="the audit log">
        {({ items, next }) => (
          <>
            {items.length === 0 ? (
              <NoEntries filtered={filtered} />
            ) : (
              <EntryTable items={items} everywhere={tenant === undefined} />
            )}
            <Group>
              {before !== undefined && (
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => set({ ...search, before: undefined })}
                >
                  Latest entries
                </Button>
              )}
              {next != null && (
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => set({ ...search, before: next })}
                >
                  Earlier entries
                </Button>
              )}
            </Group>
          </>
        )}
      </Answer>
    </Stack>
  );
}

function NoEntries({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return <Empty title="No matching entries">Clear the filters to see all entries.</Empty>;
  }
  return <Empty title="No entries yet">Changes of keys, members and quotas appear here.</Empty>;
}

function Filters({ search, set }: { search: AdminSearch; set: (next: AdminSearch) => void }) {
  const [action, setAction] = useState(search.action ?? "");
  const [actor, setActor] = useState(search.actor ?? "");
  const [since, setSince] = useState(search.since ?? "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const or = (text: string) => text.trim() || undefined;
    set({ ...search, action: or(action), actor: or(actor), since: or(since), before: undefined });
  };
  return (
    <form onSubmit={submit}>
      <Group align="end" gap="sm">
        <TextInput
          label="Action"
          placeholder="key.revoke"
          value={action}
          onChange={(event) => setAction(event.currentTarget.value)}
        />
        <TextInput
          label="Actor"
          placeholder="key name or email"
          value={actor}
          onChange={(event) => setActor(event.currentTarget.value)}
        />
        <TextInput
          label="Since (UTC)"
          type="date"
          value={since}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Apply filters
        </Button>
        <Button variant="default" onClick={() => set(search.tab ? { tab: search.tab } : {})}>
          Clear filters
        </Button>
      </Group>
    </form>
  );
}

function EntryTable({ items, everywhere }: { items: AuditEntry[]; everywhere: boolean }) {
  const tenantColumn = { title: "Tenant", cell: (entry: AuditEntry) => entry.tenant ?? "platform" };
  return (
    <Grid
      caption="Audit log"
      rows={items}
      rowKey={(entry) => entry.id}
      columns={[
        { title: "Time", tight: true, cell: (entry) => moment(entry.at) },
        ...(everywhere ? [tenantColumn] : []),
        { title: "Actor", cell: (entry) => <ActorCell entry={entry} /> },
        { title: "Action", cell: (entry) => entry.action },
        { title: "Subject", cell: (entry) => <Subject text={entry.subject} /> },
        { title: "Changes", cell: (entry) => <Changes entry={entry} /> },
      ]}
    />
  );
}

function ActorCell({ entry }: { entry: AuditEntry }) {
  const { search, set } = useAdminSearch();
  const { id, kind, name } = entry.actor;
  if (!id) return <Text size="sm">{name}</Text>;
  return (
    <Text size="sm">
      {kind}{" "}
      <Anchor
        component="button"
        type="button"
        size="sm"
        underline="always"
        onClick={() => set({ ...search, actor: id, before: undefined })}
      >
        {name || id}
      </Anchor>
    </Text>
  );
}

const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** Ids stay on one line; names may wrap. */
function Subject({ text }: { text: string }) {
  if (ID.test(text)) return <code title={text}>{`…${text.slice(-12)}`}</code>;
  return <span className="raw">{text}</span>;
}

/** One changed field per line: the old value struck through, then the new value. */
function Changes({ entry }: { entry: AuditEntry }) {
  const places = differences(entry.before, entry.after);
  if (places.length === 0) return <Text size="sm">–</Text>;
  return (
    <Stack gap={2}>
      {places.map(({ path, before, after }) => (
        <div key={path} className="raw">
          {path && `${path}: `}
          {before !== undefined && <Value as="del" text={before} />}
          {before !== undefined && after !== undefined && " → "}
          {after !== undefined && <Value as="ins" text={after} />}
        </div>
      ))}
    </Stack>
  );
}

const LONG = 120;

/** Long values are collapsed to their beginning. */
function Value({ as: Tag, text }: { as: "del" | "ins"; text: string }) {
  const style = {
    color: Tag === "del" ? "var(--assay-bad)" : "var(--assay-good)",
    textDecoration: Tag === "del" ? "line-through" : "none",
  };
  if (text.length <= LONG) return <Tag style={style}>{text || "(empty)"}</Tag>;
  return (
    <details style={{ display: "inline-block", maxWidth: "100%" }}>
      <summary>{text.slice(0, 60)}…</summary>
      <Tag style={style}>{text}</Tag>
    </details>
  );
}
