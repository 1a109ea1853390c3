// The command palette: a dialog with a search field, whose arrow keys choose one of the found entries.

import { Modal, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { api, data } from "../api/client";
import { may, type Session, useSwitchTenant } from "../api/session";
import { visible } from "../parts/names";
import { Failed } from "../parts/states";
import {
  bookEntries,
  type Entry,
  GROUP_MAX,
  knownEntries,
  pluginEntries,
  runEntries,
} from "./paletteEntries";

const REST_MS = 150;
/** The server lists versions, of which a plugin has several. */
const VERSIONS_MAX = 50;

export default function Palette({ session, onClose }: { session: Session; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const switching = useSwitchTenant();
  const found = useFound(session, typed);
  const entries = [...knownEntries(session, typed), ...found.entries, ...bookEntries(typed)];
  const chosen = Math.min(at, entries.length - 1);

  useEffect(() => {
    list.current?.querySelector(`[data-at="${chosen}"]`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  const open = (entry: Entry | undefined) => {
    if (entry?.tenant) {
      const leave = () => {
        onClose();
        void navigate({ to: "/" });
      };
      switching.mutate(entry.tenant, { onSuccess: leave });
    } else if (entry?.to) {
      onClose();
      void navigate({ to: entry.to });
    }
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && entries.length > 0) {
      event.preventDefault();
      setAt((chosen + step + entries.length) % entries.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(entries[chosen]);
    }
  };
  return (
    <Modal opened onClose={onClose} title="Go to" size="lg" yOffset="10vh">
      <TextInput
        role="combobox"
        aria-label="Search pages, runs, batches, plugins and tenants"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
        placeholder="Page, run, plugin, tenant, or id of a batch or request"
        autoComplete="off"
        data-autofocus
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      {switching.isError && <Failed thrown={switching.error} />}
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label="Found"
        className="palette"
        tabIndex={-1}
      >
        {entries.map((entry, place) => (
          <div
            key={`${entry.group} ${entry.label}`}
            id={`${id}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            data-at={place}
            onClick={() => open(entry)}
            onKeyDown={press}
            onPointerMove={() => setAt(place)}
          >
            <bdi>{visible(entry.label)}</bdi>
            <Text span size="xs" c="dimmed">
              {entry.group}
            </Text>
          </div>
        ))}
      </div>
      {found.failed && <Failed thrown={found.failed.error} retry={() => found.failed?.refetch()} />}
      {found.searching ? (
        <Text size="sm" c="dimmed" role="status">
          Searching…
        </Text>
      ) : (
        entries.length === 0 &&
        !found.failed && (
          <Text size="sm" c="dimmed" role="status">
            Nothing found.
          </Text>
        )
      )}
    </Modal>
  );
}

/** Runs and plugins whose names contain the text, after a pause in typing. */
function useFound(session: Session, typed: string) {
  const wanted = typed.trim();
  const [q] = useDebouncedValue(wanted, REST_MS);
  const enabled = q !== "" && may(session, "batches:read");
  const runs = useQuery({
    queryKey: ["runs", "list", "palette", q],
    enabled,
    queryFn: () => data(api.GET("/v1/runs", { params: { query: { q, limit: GROUP_MAX } } })),
  });
  const plugins = useQuery({
    queryKey: ["plugins", "palette", q],
    enabled,
    queryFn: () => data(api.GET("/v1/plugins", { params: { query: { q, limit: VERSIONS_MAX } } })),
  });
  if (wanted === "" || !may(session, "batches:read")) {
    return { entries: [], searching: false, failed: undefined };
  }
  // Results for an earlier text must not be opened.
  if (q !== wanted) return { entries: [], searching: true, failed: undefined };
  return {
    entries: [
      ...runEntries(runs.data?.items.map(({ name }) => name) ?? []),
      ...pluginEntries(plugins.data?.items.map(({ name }) => name) ?? []),
    ],
    searching: runs.isLoading || plugins.isLoading,
    failed: [runs, plugins].find(({ isError }) => isError),
  };
}
