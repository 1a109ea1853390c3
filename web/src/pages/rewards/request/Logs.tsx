// Log lines of a request, over all stages and attempts.

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Copy } from "../../../parts/Copy";
import { Grid } from "../../../parts/Grid";
import { Answer } from "../../../parts/states";
import { Level } from "../Level";
import { logsQuery } from "../queries";
import { Section } from "../Section";

export function Logs({ id, ended }: { id: string; ended: boolean }) {
  const logs = useQuery(logsQuery(id, ended));
  const text = logs.data
    ?.map(({ stage, level, message }) => `${stage} ${level} ${message}`)
    .join("\n");
  return (
    <Section title="Logs" actions={text && <Copy text={text} label="Copy logs" />}>
      <Answer query={logs} what="the logs" height={60}>
        {(lines) =>
          lines.length === 0 ? (
            <Text size="sm" c="dimmed">
              {ended ? "No log lines." : "Logs appear when the request ends."}
            </Text>
          ) : (
            <Grid
              caption="Log lines"
              columns={[
                { title: "Stage", cell: ({ line }) => line.stage },
                { title: "Level", cell: ({ line }) => <Level of={line.level} /> },
                { title: "Message", cell: ({ line }) => <pre className="raw">{line.message}</pre> },
              ]}
              rows={lines.map((line, at) => ({ line, at }))}
              rowKey={({ at }) => at}
              maxHeight={360}
            />
          )
        }
      </Answer>
    </Section>
  );
}
