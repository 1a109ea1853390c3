// A text of a request in a scrollable frame, with a Copy button.

import { Group, Text, Title } from "@mantine/core";
import { useId } from "react";
import { Copy } from "../../../parts/Copy";
import type { ExtractedAnswer } from "../text/answer";
import { TextView, ViewSwitch } from "../text/TextView";

export function TextBlock(props: {
  title: string;
  text: string;
  /** Whether the text may be Markdown with formulas, which can be rendered. */
  markdown?: boolean;
  answer?: ExtractedAnswer | undefined;
}) {
  const { title, text, markdown = false, answer } = props;
  const id = useId();
  const name = title.toLowerCase().replace(/,.*/, "");
  return (
    <div>
      <div className="titled">
        <Title order={3} size="sm" id={id}>
          {title}
        </Title>
        {text && (
          <Group gap="xs">
            {markdown && <ViewSwitch of={name} />}
            <Copy text={text} label={`Copy ${name}`} />
          </Group>
        )}
      </div>
      {text ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys must be able to scroll it
        <section className="scrolled" tabIndex={0} aria-labelledby={id}>
          {markdown ? <TextView text={text} answer={answer} /> : <pre className="raw">{text}</pre>}
        </section>
      ) : (
        <Text size="sm" c="dimmed">
          None.
        </Text>
      )}
      {answer && (
        <Text size="xs" c="dimmed">
          <mark className="answer">Marked</mark>: the extracted answer.
        </Text>
      )}
    </div>
  );
}
