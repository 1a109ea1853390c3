// Log lines of a run by verdict and level, latest batch first.

import { Group, NativeSelect, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { NONE } from "../../../parts/format";
import { Grid } from "../../../parts/Grid";
import { Pager } from "../../../parts/Pager";
import { present } from "../../../parts/search";
import { Answer, Empty, NoMatch } from "../../../parts/states";
import { TextFilter } from "../../../parts/TextFilter";
import { Level } from "../Level";
import { RequestLink } from "../Links";
import { LEVELS, type RunLogsFilter, runLogsQuery } from "../queries";
import { Section } from "../Section";

const route = getRouteApi("/shell/runs/$run");

type Change = { [K in keyof RunLogsFilter]: RunLogsFilter[K] | undefined };

export function RunLogs() {
  const { run } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { verdict, level, after } = search;
  const logs = useQuery(runLogsQuery(run, present({ verdict, level, after })));
  const go = (change: Change) =>
    void navigate({ search: present({ ...search, ...change }), resetScroll: false });
  const filter = (change: Change) => go({ after: undefined, ...change });
  return (
    <Section title="Logs" about="Log lines of the plugin, by request.">
      <Group gap="sm" align="end" className="filters">
        <TextFilter
          label="Verdict"
          value={verdict}
          onChange={(text) => filter({ verdict: text })}
        />
        <NativeSelect
          size="xs"
          label="Level"
          data={[{ value: "", label: "Any" }, ...LEVELS]}
          value={level ?? ""}
          onChange={({ currentTarget: { value } }) =>
            filter({ level: LEVELS.find((one) => one === value) })
          }
        />
      </Group>
      <Answer query={logs} what="the logs" height={60}>
        {({ items, next }) => (
          <Stack gap="sm">
            {items.length > 0 ? (
              <Grid
                caption="Log lines of the run"
                maxHeight={360}
                columns={[
                  {
                    title: "Request",
                    opens: true,
                    cell: ({ line }) => (
                      <RequestLink id={line.request}>
                        <span className="broken">{line.request.slice(-12)}</span>
                      </RequestLink>
                    ),
                  },
                  { title: "Verdict", cell: ({ line }) => line.verdict ?? NONE },
                  { title: "Stage", cell: ({ line }) => line.stage },
                  { title: "Level", cell: ({ line }) => <Level of={line.level} /> },
                  {
                    title: "Message",
                    cell: ({ line }) => <pre className="raw">{line.message}</pre>,
                  },
                ]}
                rows={items.map((line, at) => ({ line, at }))}
                rowKey={({ at }) => at}
              />
            ) : (
              <NoLines
                filtered={Boolean(verdict || level)}
                more={next != null}
                clear={() => filter({ verdict: undefined, level: undefined })}
              />
            )}
            <Pager after={after} next={next} onGo={(page) => go({ after: page })} />
          </Stack>
        )}
      </Answer>
    </Section>
  );
}

function NoLines(props: { filtered: boolean; more: boolean; clear: () => void }) {
  const { filtered, more, clear } = props;
  if (more) {
    return (
      <Empty title="No matching log lines on this page">
        Earlier batches may have some: go to the next page.
      </Empty>
    );
  }
  if (filtered) return <NoMatch title="No matching log lines" clear={clear} />;
  return <Empty title="No log lines" />;
}
