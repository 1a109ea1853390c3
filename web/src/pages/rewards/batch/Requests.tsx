// The requests of a batch with filters, one page at a time.

import { Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Schemas } from "../../../api/client";
import { Badge, Status } from "../../../parts/Badge";
import { Export } from "../../../parts/Export";
import { NONE, span } from "../../../parts/format";
import { type Column, Grid } from "../../../parts/Grid";
import { Name } from "../../../parts/Name";
import { Pager } from "../../../parts/Pager";
import { Reward } from "../../../parts/Reward";
import { SortedPart } from "../../../parts/SortedGrid";
import { present } from "../../../parts/search";
import { useSorted } from "../../../parts/sort";
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
  const { kind, verdict, q, after, rows } = search;
  const requests = useQuery(requestsQuery(batch, present({ kind, verdict, q, after, rows })));
  const go = (change: Change) =>
    void navigate({ search: present({ ...search, ...change }), resetScroll: false });
  const filter = (change: Change) => go({ after: undefined, sample: undefined, ...change });
  const show = (id: string) => go({ sample: Number(id.slice(id.lastIndexOf(".") + 1)) });
  const clear = () => filter({ kind: undefined, verdict: undefined, q: undefined });
  const known = verdict && !verdicts.includes(verdict) ? [...verdicts, verdict] : verdicts;
  return (
    <div id="requests">
      <Section title="Requests">
        <Group gap="sm" align="end" className="filters">
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
                <Rows
                  batch={batch}
                  items={items}
                  more={next !== undefined || after !== undefined}
                  onShow={show}
                  go={go}
                />
              ) : (
                <NoMatch title="No matching requests" clear={clear} />
              )}
              <Pager
                after={after}
                next={next}
                onGo={(page) => go({ after: page, sample: undefined })}
                rows={rows}
                onRows={(count) => filter({ rows: count })}
              />
            </Stack>
          )}
        </Answer>
      </Section>
    </div>
  );
}

type Row = Schemas["RequestSummary"];

function Rows(props: {
  batch: string;
  items: Row[];
  /** Whether the list has requests that are not loaded. */
  more: boolean;
  onShow: (id: string) => void;
  go: (change: Change) => void;
}) {
  const { batch, items, more, onShow, go } = props;
  const { sample } = route.useSearch();
  const columns = columnsOf(sample, onShow);
  const sorted = useSorted(columns, items);
  return (
    <>
      <Grid
        caption="Requests of the batch"
        maxHeight={520}
        columns={columns}
        rows={sorted.rows}
        heads={sorted.heads}
        rowKey={({ seq }) => seq}
      />
      {sorted.isSorted && more && <SortedPart rows={items.length} />}
      {sample !== undefined && (
        <SampleDrawer
          // J and K follow the order of the table.
          ids={sorted.rows.map(({ id }) => id)}
          shown={`${batch}.${sample}`}
          onShow={onShow}
          onGroup={(group) => go({ group })}
          onClose={() => go({ sample: undefined })}
        />
      )}
    </>
  );
}

/** `shown`: position of the request beside the list. */
function columnsOf(shown: number | undefined, onShow: (id: string) => void): Column<Row>[] {
  return [
    {
      title: "Texts",
      opens: true,
      cell: ({ id, key, seq }) => (
        <Button
          size="compact-xs"
          variant={seq === shown ? "filled" : "default"}
          // The accent is too light for a small text on it.
          color="gray.7"
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
      value: ({ key }) => key,
      cell: ({ id, key }) => (
        <RequestLink id={id}>
          <Name text={key} />
        </RequestLink>
      ),
    },
    {
      title: "Group",
      value: ({ group }) => group,
      cell: ({ group }) => <Name text={group ?? NONE} />,
    },
    {
      title: "Outcome",
      value: ({ kind }) => kind,
      cell: ({ kind }) => <Status kind={kind ?? "waiting"} />,
    },
    {
      title: "Verdict",
      value: ({ verdict }) => verdict,
      cell: ({ verdict }) => (verdict ? <Badge>{verdict}</Badge> : NONE),
    },
    {
      title: "Reward",
      number: true,
      value: (row) => row.reward,
      cell: (row) => <Reward of={row.reward} />,
    },
    {
      title: "Duration",
      number: true,
      value: ({ took_ms }) => took_ms,
      cell: ({ took_ms }) => span(took_ms),
    },
    {
      title: "Message",
      cell: ({ message }) => (
        <Text size="sm" miw="14rem" style={{ overflowWrap: "anywhere" }} lineClamp={2}>
          {message ?? NONE}
        </Text>
      ),
    },
  ];
}
