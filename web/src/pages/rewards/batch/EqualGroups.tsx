// Complete groups whose rewards are all equal, from which a trainer learns nothing.

import { Button, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { count } from "../../../parts/format";
import { Name } from "../../../parts/Name";
import { Section } from "../Section";
import { equalGroups } from "./groups";

/** Groups that are listed at once. */
const STEP = 24;

export function EqualGroups(props: {
  timeline: Schemas["Timeline"];
  onGroup: (group: string) => void;
}) {
  const { timeline, onGroup } = props;
  // A sample of the requests does not tell whether a group's rewards are equal.
  if (timeline.thinned || timeline.groups.name.length === 0) return null;
  const { right, wrong } = equalGroups(timeline);
  if (right.length + wrong.length === 0) return null;
  return (
    <Section
      title="Groups with zero variance"
      about="All rewards of the group are equal, so that they teach the model nothing."
    >
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Names title="All right (reward above 0)" names={right} onGroup={onGroup} />
        <Names title="All wrong (reward 0 or less)" names={wrong} onGroup={onGroup} />
      </SimpleGrid>
    </Section>
  );
}

function Names(props: { title: string; names: string[]; onGroup: (group: string) => void }) {
  const { title, names, onGroup } = props;
  const [shown, setShown] = useState(STEP);
  const hidden = names.length - shown;
  return (
    <Stack gap="xs">
      <Title order={3} size="sm">
        {title}: {count(names.length)}
      </Title>
      {names.length === 0 && (
        <Text size="sm" c="dimmed">
          None
        </Text>
      )}
      <Group gap={6}>
        {names.slice(0, shown).map((name) => (
          <Button key={name} size="compact-xs" variant="default" onClick={() => onGroup(name)}>
            <Name text={name} />
          </Button>
        ))}
        {hidden > 0 && (
          <Button size="compact-xs" variant="subtle" onClick={() => setShown(shown + STEP)}>
            Show {count(Math.min(hidden, STEP))} of {count(hidden)} more
          </Button>
        )}
      </Group>
    </Stack>
  );
}
