// The rollouts of one group side by side, each with its reward and advantage.

import { Group, Modal, Paper, Stack, Text } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Badge } from "../../../parts/Badge";
import { count, NONE, reward, signed } from "../../../parts/format";
import { Answer, Empty } from "../../../parts/states";
import { RequestLink } from "../Links";
import { groupQuery, type Request, requestQuery } from "../queries";
import { TextBlock } from "../request/TextBlock";
import { answerOf } from "../text/answer";
import { TextView, ViewSwitch } from "../text/TextView";
import { advantagesOf } from "./groups";
import { SolveRates } from "./SolveRates";

interface Rollout {
  id: string;
  key: string;
  verdict?: string | null;
  reward?: number | null;
  /** Known of a sample that is prepared. */
  advantage?: number | null;
}

export function GroupDialog(props: {
  batch: string;
  /** The run of the batch, if it is known. */
  run: string | undefined;
  group: string;
  onClose: () => void;
}) {
  const { batch, run, group, onClose } = props;
  const rollouts = useQuery(groupQuery(batch, group));
  return (
    <Modal opened onClose={onClose} size="95%" title={`Group ${group}`}>
      <Answer query={rollouts} what="the group" height={320}>
        {({ items, more }) =>
          items.length > 0 || more ? (
            <Stack gap="md">
              {more && (
                <Text size="sm" role="status">
                  The first {count(items.length)} rollouts that were found. The group may have more.
                </Text>
              )}
              <Rollouts rollouts={items} more={more} />
              {run !== undefined && <SolveRates run={run} group={group} />}
            </Stack>
          ) : (
            <Empty title="No requests of this group are stored" />
          )
        }
      </Answer>
    </Modal>
  );
}

function Rollouts({ rollouts, more }: { rollouts: Rollout[]; more: boolean }) {
  const requests = useQueries({ queries: rollouts.map(({ id }) => requestQuery(id)) });
  const advantage = advantagesOf(rollouts, more);
  const prompt = requests.find(({ data }) => data)?.data?.prompt;
  return (
    <Stack gap="sm">
      {prompt !== undefined && <TextBlock title="Prompt" text={prompt} markdown />}
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          Responses
        </Text>
        <ViewSwitch of="responses" />
      </Group>
      <section
        className="rollouts"
        aria-label="Rollouts of the group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys must be able to scroll it
        tabIndex={0}
      >
        {rollouts.map((rollout, at) => (
          <Paper key={rollout.id} withBorder p="sm" className="rollout">
            <Stack gap={4}>
              <RequestLink id={rollout.id}>{rollout.key}</RequestLink>
              <Text size="sm">
                Reward <b>{reward(rollout.reward)}</b>, advantage <b>{signed(advantage[at])}</b>
              </Text>
              {rollout.verdict ? <Badge>{rollout.verdict}</Badge> : NONE}
              <Text size="xs" c="dimmed">
                {count(requests[at]?.data?.response.length)} characters
              </Text>
              <Response request={requests[at]?.data} />
            </Stack>
          </Paper>
        ))}
      </section>
    </Stack>
  );
}

function Response({ request }: { request: Request | undefined }) {
  return request ? <TextView text={request.response} answer={answerOf(request)} /> : null;
}
