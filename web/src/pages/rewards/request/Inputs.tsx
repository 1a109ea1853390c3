// Inputs of a request as text: prompt, response, label, metadata and settings of the run.

import { Text, Title } from "@mantine/core";
import { useId } from "react";
import { Copy } from "../../../parts/Copy";
import type { Request } from "../queries";
import { Section } from "../Section";

export function Inputs({ request }: { request: Request }) {
  const json = (value: unknown) => (value == null ? "" : JSON.stringify(value, null, 2));
  const { prompt, response, label, metadata, context } = request;
  return (
    <Section title="Inputs">
      <Input title="Prompt" text={prompt} />
      <Input title="Response" text={response} />
      <Input title="Label" text={typeof label === "string" ? label : json(label)} />
      <Input title="Metadata" text={json(metadata)} />
      {context && <Input title="Settings" text={json(context.settings)} />}
    </Section>
  );
}

function Input({ title, text }: { title: string; text: string }) {
  const id = useId();
  return (
    <div>
      <div className="titled">
        <Title order={3} size="sm" id={id}>
          {title}
        </Title>
        {text && <Copy text={text} label={`Copy ${title.toLowerCase()}`} />}
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
