// A text of a request in a scrollable frame, with a Copy button.

import { Text, Title } from "@mantine/core";
import { useId } from "react";
import { Copy } from "../../../parts/Copy";

export function TextBlock({ title, text }: { title: string; text: string }) {
  const id = useId();
  return (
    <div>
      <div className="titled">
        <Title order={3} size="sm" id={id}>
          {title}
        </Title>
        {text && <Copy text={text} label={`Copy ${title.toLowerCase().replace(/,.*/, "")}`} />}
      </div>
      {text ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys must be able to scroll it
        <section className="scrolled" tabIndex={0} aria-labelledby={id}>
          <pre className="raw">{text}</pre>
        </section>
      ) : (
        <Text size="sm" c="dimmed">
          None.
        </Text>
      )}
    </div>
  );
}
