// One training run: rewards, verdicts, times and delays by iteration.

import { NativeSelect, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Chip } from "../../../parts/Chip";
import { Copy } from "../../../parts/Copy";
import { CopyLink } from "../../../parts/CopyLink";
import { Deferred } from "../../../parts/Deferred";
import { Facts } from "../../../parts/Facts";
import { count, moment, reward, signed, span } from "../../../parts/format";
import { indented } from "../../../parts/json";
import { Page } from "../../../parts/Page";
import { Sparkline } from "../../../parts/Sparkline";
import { present } from "../../../parts/search";
import { Answer, Empty } from "../../../parts/states";
import { ExportSamples } from "../ExportSamples";
import { PageLink, PluginLink } from "../Links";
import { ITERATIONS_DEFAULT, ITERATIONS_MAX, type RunView, runQuery } from "../queries";
import { pythonSamplesOf } from "../request/commands";
import { Section } from "../Section";
import type { RunSearch } from "../searches";
import { Arrivals } from "./Arrivals";
import { Charts } from "./Charts";
import { BASELINE_DEFAULT, type Baseline, baselineOf, baselineText, promotionMarks } from "./drift";
import { lastChange } from "./fold";
import { IterationTable } from "./IterationTable";
import { Promotions } from "./Promotions";
import { RunLogs } from "./RunLogs";

const route = getRouteApi("/shell/runs/$run");

/** Height of the table of iterations, roughly. */
const TABLE_HEIGHT = 560;
const LASTS = [50, ITERATIONS_DEFAULT, ITERATIONS_MAX];

export function Run() {
  const { run } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { last = ITERATIONS_DEFAULT } = search;
  const view = useQuery(runQuery(run, last, search.curves));
  const baseline = baselineOf(search.baseline) ?? BASELINE_DEFAULT;
  const go = (change: { [K in keyof RunSearch]: RunSearch[K] | undefined }) =>
    void navigate({ search: present({ ...search, ...change }), replace: true, resetScroll: false });
  return (
    <Page
      title={run}
      crumbs={[{ label: "Runs", to: "/runs" }]}
      actions={
        <>
          <PageLink to="/batches" search={{ run }} size="sm">
            Batches
          </PageLink>
          <PageLink to="/samples" search={{ run }} size="sm">
            Samples
          </PageLink>
          <PageLink to="/incidents" search={{ run }} size="sm">
            Incidents
          </PageLink>
          <PageLink to="/compare" search={{ runs: [run] }} size="sm">
            Compare
          </PageLink>
          <PageLink to="/simulate" search={{ run }} size="sm">
            Simulate
          </PageLink>
          <ExportSamples run={run} />
          <Copy text={pythonSamplesOf(run)} label="Copy as Python" />
          <CopyLink />
          <NativeSelect
            size="xs"
            aria-label="Number of iterations"
            data={LASTS.map((value) => ({
              value: String(value),
              label: `Last ${count(value)} iterations`,
            }))}
            value={String(last)}
            onChange={({ currentTarget }) => go({ last: Number(currentTarget.value) })}
          />
        </>
      }
    >
      <Answer query={view} what="the run's iterations" height={480}>
        {(answer) => (
          <Content
            view={answer}
            curves={search.curves?.split(",") ?? answer.curves.map(({ batch }) => batch)}
            baseline={baseline}
            onBaseline={(next) => go({ baseline: baselineText(next) })}
            onCurves={(curves) => go({ curves: curves.length > 0 ? curves.join(",") : undefined })}
          />
        )}
      </Answer>
    </Page>
  );
}

function Content(props: {
  view: RunView;
  /** Batches in the arrival chart: those of the URL, whose answer may be on its way. */
  curves: readonly string[];
  baseline: Baseline;
  onBaseline: (baseline: Baseline) => void;
  onCurves: (curves: string[]) => void;
}) {
  const { view, curves, baseline, onBaseline, onCurves } = props;
  const navigate = route.useNavigate();
  const { run, iterations } = view;
  const marks = promotionMarks(iterations.announced_at, view.promotions);
  const open = (at: number) => {
    const batch = iterations.batch[at];
    if (batch) void navigate({ to: "/batches/$batch", params: { batch } });
  };
  const settings = indented(view.settings);
  const change = lastChange(iterations);
  return (
    <Stack gap="md">
      <Facts
        items={[
          {
            label: "Plugin",
            value: <PluginLink plugin={run.plugin} />,
            note: <Chip text={run.plugin_digest} label="digest" />,
          },
          {
            label: "Batches",
            tile: true,
            value: count(run.batches),
            note: `${count(run.live_batches)} live`,
          },
          { label: "Last iteration", tile: true, value: count(run.last_iteration) },
          {
            label: "Last mean reward",
            tile: true,
            value: reward(run.last_mean_reward),
            note: change === undefined ? undefined : `${signed(change)} since the iteration before`,
            spark: <Sparkline values={iterations.mean} label="Mean reward by iteration" />,
          },
          {
            label: "Last extra delay",
            tile: true,
            value: span(iterations.extra_delay_ms.findLast((ms) => ms != null)),
            spark: (
              <Sparkline values={iterations.extra_delay_ms} label="Extra delay by iteration" />
            ),
          },
          { label: "Last batch", value: moment(run.last_batch_at) },
          { label: "Started", value: moment(run.created_at) },
        ]}
      />
      {iterations.batch.length === 0 ? (
        <Empty title="No batches yet">Batches appear here when the run announces them.</Empty>
      ) : (
        <>
          <Charts
            iterations={iterations}
            marks={marks}
            baseline={baseline}
            onBaseline={onBaseline}
            onPick={open}
          />
          <Deferred height={TABLE_HEIGHT}>
            <Promotions promotions={marks.map(({ promotion }) => promotion)} />
            {view.curves.length > 0 && <Arrivals curves={view.curves} />}
            <IterationTable
              iterations={iterations}
              earlier={view.earlier}
              curves={curves}
              onCurves={onCurves}
            />
            <RunLogs />
          </Deferred>
        </>
      )}
      <Section title="Settings" actions={<Copy text={settings} label="Copy settings" />}>
        <pre className="raw">{settings}</pre>
      </Section>
    </Stack>
  );
}
