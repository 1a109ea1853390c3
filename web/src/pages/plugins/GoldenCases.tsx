// The golden cases of a version with their results.

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Badge, type Tone } from "../../parts/Badge";
import { span } from "../../parts/format";
import { Grid } from "../../parts/Grid";
import { Answer } from "../../parts/states";
import { casesQuery, type GoldenCase, type Plugin } from "./queries";
import { hasCases } from "./versions";

const STATES: Record<GoldenCase["state"], { tone: Tone; word: string }> = {
  passed: { tone: "good", word: "passed" },
  not_run: { tone: "late", word: "not run" },
  skipped: { tone: "late", word: "skipped" },
};

export function GoldenCases({ plugin }: { plugin: Plugin }) {
  if (!hasCases(plugin.golden_cases)) {
    return (
      <Text size="sm" c="dimmed">
        The version was published without golden cases.
      </Text>
    );
  }
  return <Loaded plugin={plugin} />;
}

function Loaded({ plugin: { name, version } }: { plugin: Plugin }) {
  const cases = useQuery(casesQuery(name, version));
  return (
    <Answer query={cases} what="the golden cases">
      {({ items }) => <Table cases={items} />}
    </Answer>
  );
}

function Table({ cases }: { cases: GoldenCase[] }) {
  return (
    <Grid
      caption="Golden cases"
      rows={cases}
      rowKey={({ file }) => file}
      maxHeight={360}
      columns={[
        {
          title: "Case",
          cell: ({ name, file }) => (
            <div>
              <span className="raw">{name || file}</span>
              {name && (
                <Text size="xs" c="dimmed" className="raw">
                  {file}
                </Text>
              )}
            </div>
          ),
        },
        { title: "State", cell: (one) => <State of={one} /> },
        {
          title: "Expected",
          cell: ({ expected }) => <span className="raw">{expected || "–"}</span>,
        },
        { title: "Actual", cell: ({ actual }) => <span className="raw">{actual || "–"}</span> },
        {
          title: "Run time",
          number: true,
          cell: ({ state, ran_ms }) => (state === "skipped" ? "–" : span(ran_ms)),
        },
      ]}
    />
  );
}

function State({ of: { state, reason } }: { of: GoldenCase }) {
  const { tone, word } = STATES[state];
  return (
    <div>
      <Badge tone={tone}>{word}</Badge>
      {reason && <span className="raw">{reason}</span>}
    </div>
  );
}
