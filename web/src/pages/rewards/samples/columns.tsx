// The columns of a list of samples.

import { Anchor, Button, Text } from "@mantine/core";
import { Badge } from "../../../parts/Badge";
import { count, NONE, reward, signed, span } from "../../../parts/format";
import type { Column } from "../../../parts/Grid";
import { Name } from "../../../parts/Name";
import { visible } from "../../../parts/names";
import { Reward } from "../../../parts/Reward";
import { BatchLink, RequestLink } from "../Links";
import type { Sample, SampleColumn } from "./search";

/** Columns by their titles, for those that the interface sorts by. */
export const SORTED_BY: Readonly<Record<string, SampleColumn>> = {
  Prompt: "prompt",
  Response: "response",
  Label: "label",
  Reward: "reward",
  Advantage: "advantage",
  Verdict: "verdict",
  Length: "response_chars",
  Group: "group",
  Iteration: "iteration",
  Duration: "took_ms",
  Key: "key",
};

/** Numbers are first sorted in descending order. */
export const NUMBERS: readonly SampleColumn[] = [
  "iteration",
  "reward",
  "advantage",
  "prompt_chars",
  "response_chars",
  "took_ms",
  "component",
];

export function columnsOf(props: {
  /** Id of the sample that is shown beside the list. */
  shown: string | undefined;
  component: string | undefined;
  oneBatch: boolean;
  onShow: (id: string) => void;
  onGroup: (sample: Sample) => void;
}): Column<Sample>[] {
  const { shown, component, oneBatch, onShow, onGroup } = props;
  return [
    {
      title: "Texts",
      opens: true,
      cell: ({ id, key }) => (
        <Button
          size="compact-xs"
          variant={id === shown ? "filled" : "default"}
          // The accent is too light for a small text on it.
          color="gray.7"
          aria-label={`Read ${visible(key)}`}
          aria-pressed={id === shown}
          onClick={() => onShow(id)}
        >
          Read
        </Button>
      ),
    },
    { title: "Prompt", value: ({ prompt }) => prompt, cell: ({ prompt }) => <Start of={prompt} /> },
    {
      title: "Response",
      value: ({ response }) => response,
      cell: ({ response }) => <Start of={response} />,
    },
    {
      title: "Label",
      value: ({ label }) => label,
      cell: ({ label }) => <Name text={label ?? NONE} />,
    },
    {
      title: "Reward",
      number: true,
      value: (sample) => sample.reward,
      cell: (sample) => <Reward of={sample.reward} />,
    },
    {
      title: "Advantage",
      hint: "Distance of the reward from the mean of its group, in standard deviations",
      number: true,
      value: ({ advantage }) => advantage,
      cell: ({ advantage }) => signed(advantage),
    },
    {
      title: "Verdict",
      tight: true,
      value: ({ verdict }) => verdict,
      cell: ({ verdict }) => (verdict ? <Badge>{verdict}</Badge> : NONE),
    },
    {
      title: "Length",
      hint: "Characters of the response",
      number: true,
      value: ({ response_chars }) => response_chars,
      cell: ({ response_chars }) => count(response_chars),
    },
    {
      title: component ? visible(component) : "Components",
      hint: component ? "Component of the reward" : "Parts that the reward was made from",
      number: component !== undefined,
      ...(component ? { value: ({ components }) => components?.[component] } : {}),
      cell: ({ components }) =>
        component ? reward(components?.[component]) : <Components of={components ?? {}} />,
    },
    {
      title: "Group",
      value: ({ group }) => group,
      cell: (sample) =>
        sample.group == null ? (
          NONE
        ) : (
          <Anchor
            component="button"
            type="button"
            size="sm"
            ta="left"
            aria-label={`Compare the group ${visible(sample.group)}`}
            onClick={() => onGroup(sample)}
          >
            <Name text={sample.group} />
          </Anchor>
        ),
    },
    ...(oneBatch
      ? []
      : [
          {
            title: "Iteration",
            number: true,
            value: ({ iteration }: Sample) => iteration,
            cell: ({ batch, iteration }: Sample) => (
              <BatchLink id={batch}>{count(iteration)}</BatchLink>
            ),
          },
        ]),
    {
      title: "Duration",
      number: true,
      value: ({ took_ms }) => took_ms,
      cell: ({ took_ms }) => span(took_ms),
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
  ];
}

/** The beginning of a text, on two lines. */
function Start({ of }: { of: string }) {
  return (
    <Text size="sm" className="start" lineClamp={2}>
      <bdi>{visible(of.replace(/\s+/g, " ")) || NONE}</bdi>
    </Text>
  );
}

function Components({ of }: { of: Record<string, number> }) {
  const all = Object.entries(of);
  if (all.length === 0) return NONE;
  const text = all.map(([name, value]) => `${visible(name)} ${reward(value)}`).join(", ");
  return (
    <Text size="sm" className="start" lineClamp={2} title={text}>
      <bdi>{text}</bdi>
    </Text>
  );
}
