// The filters of a list of samples: the most used ones in a bar, the others below it.

import { Button, Collapse, Group, NativeSelect, Stack } from "@mantine/core";
import { useState } from "react";
import { TextFilter } from "../../../parts/TextFilter";
import {
  type Bound,
  filterOf,
  GROUP_REWARDS,
  OUTCOMES,
  type SamplesChange,
  type SamplesSearch,
  typedNumber,
} from "./search";

const WORDS: Record<string, string> = {
  scored: "scored",
  timed_out: "timed out",
  error: "error",
  all_right: "All right",
  all_wrong: "All wrong",
  mixed: "Mixed rewards",
};

type Props = { search: SamplesSearch; onChange: (change: SamplesChange) => void };

/** Filters that are not in the bar. */
const FURTHER: readonly (keyof SamplesSearch)[] = [
  "label",
  "group",
  "iteration_min",
  "iteration_max",
  "advantage_min",
  "advantage_max",
  "prompt_chars_min",
  "prompt_chars_max",
  "took_ms_min",
  "took_ms_max",
  "component",
  "component_min",
  "component_max",
];

export function Filters({ search, onChange }: Props) {
  const chosen = FURTHER.filter((name) => search[name] !== undefined).length;
  const [open, setOpen] = useState(chosen > 0);
  const filters = Object.keys(filterOf(search));
  const clear = () => onChange(Object.fromEntries(filters.map((name) => [name, undefined])));
  return (
    <Stack gap="xs" component="search" aria-label="Filters">
      <Group gap="sm" align="end" className="filters">
        <TextFilter
          label="Words of prompt or response"
          placeholder='wait "let me check" -sorry'
          value={search.q}
          onChange={(q) => onChange({ q })}
        />
        <Choice
          label="Outcome"
          choices={OUTCOMES}
          value={search.kind}
          onChange={(kind) => onChange({ kind })}
        />
        <TextFilter
          label="Verdict"
          value={search.verdict}
          onChange={(verdict) => onChange({ verdict })}
        />
        <Choice
          label="Groups"
          choices={GROUP_REWARDS}
          value={search.group_rewards}
          onChange={(group_rewards) => onChange({ group_rewards })}
        />
        <Bounds of="reward" label="Reward" search={search} onChange={onChange} />
        <Bounds of="response_chars" label="Length" search={search} onChange={onChange} />
        <Button
          size="xs"
          variant="default"
          aria-expanded={open}
          aria-controls="more-filters"
          onClick={() => setOpen(!open)}
        >
          {open ? "Fewer filters" : chosen > 0 ? `More filters (${chosen})` : "More filters"}
        </Button>
        {filters.length > 0 && (
          <Button size="xs" variant="subtle" onClick={clear}>
            Clear filters
          </Button>
        )}
      </Group>
      <Collapse expanded={open} id="more-filters">
        <Further search={search} onChange={onChange} />
      </Collapse>
    </Stack>
  );
}

function Further({ search, onChange }: Props) {
  return (
    <Group gap="sm" align="end" className="filters">
      <TextFilter label="Label" value={search.label} onChange={(label) => onChange({ label })} />
      <TextFilter label="Group" value={search.group} onChange={(group) => onChange({ group })} />
      {search.batch === undefined && (
        <Bounds of="iteration" label="Iteration" search={search} onChange={onChange} />
      )}
      <Bounds of="advantage" label="Advantage" search={search} onChange={onChange} />
      <Bounds of="prompt_chars" label="Prompt length" search={search} onChange={onChange} />
      <Bounds of="took_ms" label="Duration in ms" search={search} onChange={onChange} />
      <TextFilter
        label="Component"
        value={search.component}
        onChange={(component) =>
          onChange(
            component
              ? { component }
              : {
                  component,
                  component_min: undefined,
                  component_max: undefined,
                  ...sortless(search),
                },
          )
        }
      />
      {search.component !== undefined && (
        <Bounds of="component" label="Component" search={search} onChange={onChange} />
      )}
    </Group>
  );
}

/** Without a component nothing is sorted by it. */
function sortless({ sort }: SamplesSearch): SamplesChange {
  return sort?.endsWith("component") ? { sort: undefined } : {};
}

function Choice<T extends string>(props: {
  label: string;
  choices: readonly T[];
  value: T | undefined;
  onChange: (value: T | undefined) => void;
}) {
  const { label, choices, value, onChange } = props;
  return (
    <NativeSelect
      size="xs"
      label={label}
      data={[
        { value: "", label: "Any" },
        ...choices.map((choice) => ({ value: choice, label: WORDS[choice] ?? choice })),
      ]}
      value={value ?? ""}
      onChange={({ currentTarget }) =>
        onChange(choices.find((choice) => choice === currentTarget.value))
      }
    />
  );
}

type Ranged = Bound extends `${infer Name}_min` | `${infer Name}_max` ? Name : never;

function Bounds(props: Props & { of: Ranged; label: string }) {
  const { of, label, search, onChange } = props;
  const bound = (end: "min" | "max") => {
    const name: Bound = `${of}_${end}`;
    const textOf = (value: number | undefined) => (value === undefined ? undefined : String(value));
    return (
      <TextFilter
        label={`${label} ${end === "min" ? "from" : "to"}`}
        narrow
        value={textOf(search[name])}
        meaning={(text) => textOf(typedNumber(text))}
        problem={(text) => (typedNumber(text) === undefined ? "Not a number" : undefined)}
        onChange={(text) => onChange({ [name]: typedNumber(text) })}
      />
    );
  };
  return (
    <Group gap={4} align="end" wrap="nowrap">
      {bound("min")}
      {bound("max")}
    </Group>
  );
}
