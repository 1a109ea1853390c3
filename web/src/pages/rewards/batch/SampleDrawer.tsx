// One request beside the list, with its texts. J and K go to the next and the previous one.

import { Button, Drawer, Group, Stack, Text } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { count, NONE } from "../../../parts/format";
import { Answer } from "../../../parts/states";
import { RequestLink } from "../Links";
import { type Request, requestQuery } from "../queries";
import { OutcomeBody } from "../request/OutcomeView";
import { shownOf } from "../request/source";
import { TextBlock } from "../request/TextBlock";
import { answerOf } from "../text/answer";

export function SampleDrawer(props: {
  /** Ids of the listed requests, in their order. */
  ids: readonly string[];
  /** Id of the shown request. */
  shown: string;
  onShow: (id: string) => void;
  /** Goes to the next page of the list; absent on the last page. */
  onBeyond?: () => void;
  onGroup: (group: string) => void;
  onClose: () => void;
}) {
  const { ids, shown, onShow, onBeyond, onGroup, onClose } = props;
  const at = ids.indexOf(shown);
  const go = (step: number) => {
    const id = at < 0 ? undefined : ids[at + step];
    if (id !== undefined) onShow(id);
    else if (step > 0 && at >= 0) onBeyond?.();
  };
  useHotkeys([
    ["j", () => go(1)],
    ["k", () => go(-1)],
  ]);
  const request = useQuery(requestQuery(shown));
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={request.data ? `Request ${request.data.key}` : "Request"}
      // Without an overlay the list stays visible and can be used.
      withOverlay={false}
      trapFocus={false}
      lockScroll={false}
    >
      <Stack gap="sm">
        <Group gap="xs">
          <Button size="xs" variant="default" disabled={at <= 0} onClick={() => go(-1)}>
            Previous (K)
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={at < 0 || (at + 1 >= ids.length && onBeyond === undefined)}
            onClick={() => go(1)}
          >
            {at + 1 < ids.length || !onBeyond ? "Next (J)" : "Next page (J)"}
          </Button>
          <RequestLink id={shown}>Open the page of this request</RequestLink>
        </Group>
        <Answer query={request} what="the request" height={320}>
          {(answer) => <Sample request={answer} onGroup={onGroup} />}
        </Answer>
      </Stack>
    </Drawer>
  );
}

function Sample({ request, onGroup }: { request: Request; onGroup: (group: string) => void }) {
  const { prompt, response, group, result } = request;
  return (
    <Stack gap="sm">
      {result ? (
        <OutcomeBody outcome={result.outcome} />
      ) : (
        <Text size="sm" c="dimmed">
          In progress. The result appears here.
        </Text>
      )}
      {group != null && (
        <Group gap="xs">
          <Text size="sm">Group {group}</Text>
          <Button size="xs" variant="default" onClick={() => onGroup(group)}>
            Compare the group
          </Button>
        </Group>
      )}
      <TextBlock title="Prompt" text={prompt} markdown />
      <TextBlock
        title={`Response, ${count(response.length)} characters`}
        text={response}
        markdown
        answer={answerOf(request)}
      />
      <TextBlock title="Label" text={shownOf(request, "label") || NONE} />
    </Stack>
  );
}
