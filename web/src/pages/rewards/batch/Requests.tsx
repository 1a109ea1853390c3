// The requests of a batch with filters, one page at a time.

import { Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Schemas } from "../../../api/client";
import { Status } from "../../../parts/Dot";
import { Export } from "../../../parts/Export";
import { NONE, reward, span } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { Name } from "../../../parts/Name";
import { Pager } from "../../../parts/Pager";
import { present } from "../../../parts/search";
import { Answer, NoMatch } from "../../../parts/states";
import { TextFilter } from "../../../parts/TextFilter";
import { REQUEST_COLUMNS } from "../columns";
import { RequestLink } from "../Links";
import { KINDS, requestsExport, requestsQuery } from "../queries";
import { Section } from "../Section";
import type { BatchSearch } from "../searches";
import { SampleDrawer } from "./SampleDrawer";

const route = getRouteApi("/shell/batches/$batch");

type Change = { [K in keyof BatchSearch]: BatchSearch[K] | undefined };

const WORDS: Record<string, string> = { timed_out: "timed out", waiting: "in progress" };

export function Requests({ batch, verdicts }: { batch: string; verdicts: string[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { kind, verdict, q, after } = search;
  const requests = useQuery(requestsQuery(batch, present({ kind, verdict, q, after })));
  const go = (change: Change) =>
    void navigate({ search: present({ ...search, ...change }), resetScroll: false });
  const filter = (change: Change) => go({ after: undefined, sample: undefined, ...change });
  const show = (id: string) => go({ sample: Number(id.slice(id.lastIndexOf(".") + 1)) });
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
          <Export
            name={`requests of ${batch}`}
            columns={REQUEST_COLUMNS}
            read={requestsExport(batch, present({ kind, verdict, q }))}
          />
        </Group>
        <Answer query={requests} what="the requests">
          {({ items, next }) => (
            <Stack gap="sm">
              {items.length > 0 ? (
                <Rows items={items} shown={search.sample} onShow={show} />
              ) : (
                <NoMatch title="No matching requests" clear={clear} />
              )}
              <Pager
                after={after}
                next={next}
                onGo={(page) => go({ after: page, sample: undefined })}
              />
              {search.sample !== undefined && (
                <SampleDrawer
                  ids={items.map(({ id }) => id)}
                  shown={`${batch}.${search.sample}`}
                  onShow={show}
                  onGroup={(group) => go({ group })}
                  onClose={() => go({ sample: undefined })}
                />
              )}
            </Stack>
          )}
        </Answer>
      </Section>
    </div>
  );
}

function Rows(props: {
  items: Schemas["RequestSummary"][];
  /** Position of the request beside the list. */
  shown: number | undefined;
  onShow: (id: string) => void;
}) {
  const { items, shown, onShow } = props;
  return (
    <Grid
      caption="Requests of the batch"
      maxHeight={520}
      columns={[
        {
          title: "Texts",
          cell: ({ id, key, seq }) => (
            <Button
              size="compact-xs"
              variant={seq === shown ? "filled" : "default"}
              aria-label={`Read ${key}`}
              aria-pressed={seq === shown}
              onClick={() => onShow(id)}
            >
              Read
            </Button>
          ),
        },
        {
          title: "Key",
          cell: ({ id, key }) => (
            <RequestLink id={id}>
              <Name text={key} />
            </RequestLink>
          ),
        },
        { title: "Group", cell: ({ group }) => <Name text={group ?? NONE} /> },
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
