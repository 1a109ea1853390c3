// Two versions of a plugin over the same recorded requests: which verdicts and rewards differ.

import { Button, Group, NativeSelect, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Choice } from "../../../parts/Choice";
import { Command } from "../../../parts/Command";
import { count } from "../../../parts/format";
import { Page } from "../../../parts/Page";
import { RequireScope } from "../../../parts/RequireScope";
import { present } from "../../../parts/search";
import { Answer, Empty, Failed } from "../../../parts/states";
import { type Plugin, versionsQuery } from "../queries";
import { defaultBefore } from "../versions";
import { Results } from "./Results";
import { useReplays } from "./useReplays";

const route = getRouteApi("/shell/plugins/$name/$version/compare");

const LIMITS = [25, 100, 500, 2_000];
const LIMIT_DEFAULT = 100;

export function VersionCompare() {
  const { name, version } = route.useParams();
  const title = `Compare ${name}@${version}`;
  const versions = useQuery(versionsQuery(name));
  return (
    <RequireScope scope="batches:write" title={title}>
      <Page
        title={title}
        crumbs={[
          { label: "Plugins", to: "/plugins" },
          { label: name, to: `/plugins/${name}` },
          { label: version, to: `/plugins/${name}/${version}` },
        ]}
        about="Runs recorded requests of another version again, by this one, and compares verdicts and rewards. Each is counted like any other request."
      >
        <Answer query={versions} what="the versions">
          {({ items }) => <Comparison name={name} version={version} versions={items} />}
        </Answer>
      </Page>
    </RequireScope>
  );
}

function Comparison(props: { name: string; version: string; versions: readonly Plugin[] }) {
  const { name, version, versions } = props;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { replays, start, stop } = useReplays();
  const others = versions.filter((one) => one.version !== version);
  const before = search.before ?? defaultBefore(others)?.version;
  const limit = LIMITS.find((one) => one === search.limit) ?? LIMIT_DEFAULT;
  if (before === undefined) {
    return (
      <Empty title={`${name} has no other version`}>
        Publish another one, or compare a component on your own machine:
        <Command text={`assay plugin test --against ${version}`} />
      </Empty>
    );
  }
  const go = (change: { before?: string; limit?: number }) => {
    stop();
    void navigate({ search: present({ ...search, ...change }), replace: true });
  };
  const running = replays.state === "running";
  return (
    <Stack gap="md">
      <Group gap="sm" align="end" className="filters">
        <Choice
          size="xs"
          label="Recorded by version"
          data={others.map((one) => ({
            value: one.version,
            label: [one.version, ...one.channels].join(", "),
          }))}
          value={before}
          onChange={(value) => go({ before: value })}
        />
        <NativeSelect
          size="xs"
          label="Requests"
          data={LIMITS.map((value) => ({
            value: String(value),
            label: `Latest ${count(value)}`,
          }))}
          value={String(limit)}
          onChange={({ currentTarget }) => go({ limit: Number(currentTarget.value) })}
        />
        {running ? (
          <Button size="xs" variant="default" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button
            size="xs"
            onClick={() => void start({ plugin: name, before, after: version, limit })}
          >
            Compare
          </Button>
        )}
      </Group>
      {running && (
        <Stack gap={4} role="status">
          <Text size="sm">
            {replays.of === 0
              ? "Reading the recorded requests."
              : `${count(replays.results.length)} of ${count(replays.of)} requests compared`}
          </Text>
          <Progress
            value={(replays.results.length / Math.max(replays.of, 1)) * 100}
            aria-label="Compared requests"
          />
        </Stack>
      )}
      {replays.error !== undefined && <Failed thrown={replays.error} />}
      {replays.failed && (
        <Stack gap={4}>
          <Text size="sm">
            {count(replays.failed.count)} requests could not be replayed; the last one because:
          </Text>
          <Failed thrown={replays.failed.last} />
        </Stack>
      )}
      {replays.state === "done" && replays.asked && replays.of === 0 && (
        <Empty title={`No requests of ${name}@${replays.asked.before} are stored`}>
          Requests can be compared once their batch has ended and its samples are prepared, until
          the tenant's retention deletes them.
        </Empty>
      )}
      {replays.asked && replays.results.length > 0 && (
        <Results
          results={replays.results}
          before={replays.asked.before}
          after={replays.asked.after}
        />
      )}
    </Stack>
  );
}
