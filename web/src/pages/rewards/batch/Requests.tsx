// The requests of a batch with filters, one page at a time.

import { Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Schemas } from "../../../api/client";
import { Status } from "../../../parts/Dot";
import { NONE, reward, span } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { present } from "../../../parts/search";
import { Answer, NoMatch } from "../../../parts/states";
import { RequestLink } from "../Links";
import { Pager } from "../Pager";
import { KINDS, type RequestsFilter, requestsQuery } from "../queries";
import { Section } from "../Section";
import { TextFilter } from "../TextFilter";

const route = getRouteApi("/shell/batches/$batch");

type Change = { [K in keyof RequestsFilter]: RequestsFilter[K] | undefined };

const WORDS: Record<string, string> = { timed_out: "timed out", waiting: "in progress" };

export function Requests({ batch, verdicts }: { batch: string; verdicts: string[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { kind, verdict, q, after } = search;
  const requests = useQuery(requestsQuery(batch, present({ kind, verdict, q, after })));
  const go = (change: Change) =>
    void navigate({ search: present({ ...search, ...change }), resetScroll: false });
  const filter = (change: Change) => go({ after: undefined, ...change });
  const clear = () => filter({ kind: undefined, verdict: undefined, q: undefined });
  const known = verdict && !verdicts.includes(verdict) ? [...verdicts, verdict] : verdicts;
  return (
    <div id="requests">
      <Section title="Requests">
        <Group gap="sm" align="end">
          <NativeSelect
            size="xs"
            label="Outcome"
            data={[
              { value: "", label: "Any" },
              ...KINDS.map((value) => ({ value, label: WORDS[value] ?? value })),
            ]}
            value={kind ?? ""}
            onChange={({ currentTarget: { value } }) =>
              filter({ kind: KINDS.find((one) => one === value) })
            }
          />
          <NativeSelect
            size="xs"
            label="Verdict"
            data={[{ value: "", label: "Any" }, ...known]}
            value={verdict ?? ""}
            onChange={({ currentTarget: { value } }) => filter({ verdict: value || undefined })}
          />
          <TextFilter label="Key or group" value={q} onChange={(text) => filter({ q: text })} />
        </Group>
        <Answer query={requests} what="the requests">
          {({ items, next }) => (
            <Stack gap="sm">
              {items.length > 0 ? (
                <Rows items={items} />
              ) : (
                <NoMatch title="No matching requests" clear={clear} />
              )}
              <Pager after={after} next={next} onGo={(page) => go({ after: page })} />
            </Stack>
          )}
        </Answer>
      </Section>
    </div>
  );
}

function Rows({ items }: { items: Schemas["RequestSummary"][] }) {
  return (
    <Grid
      caption="Requests of the batch"
      maxHeight={520}
      columns={[
        {
          title: "Key",
          cell: ({ id, key }) => (
            <RequestLink id={id}>
              <span className="broken">{key}</span>
            </RequestLink>
          ),
        },
        { title: "Group", cell: ({ group }) => <span className="broken">{group ?? NONE}</span> },
        { title: "Outcome", cell: ({ kind }) => <Status kind={kind ?? "waiting"} /> },
        { title: "Verdict", cell: ({ verdict }) => verdict ?? NONE },
        { title: "Reward", number: true, cell: (row) => reward(row.reward) },
        { title: "Duration", number: true, cell: ({ took_ms }) => span(took_ms) },
        {
          title: "Message",
          cell: ({ message }) => (
            <Text size="sm" miw="14rem" style={{ overflowWrap: "anywhere" }} lineClamp={2}>
              {message ?? NONE}
            </Text>
          ),
        },
      ]}
      rows={items}
      rowKey={({ seq }) => seq}
    />
  );
}
