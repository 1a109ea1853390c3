// Inputs of a request as text: prompt, response, label, metadata and settings of the run.

import type { Request } from "../queries";
import { Section } from "../Section";
import { answerOf } from "../text/answer";
import { TextBlock } from "./TextBlock";

export function Inputs({ request }: { request: Request }) {
  const json = (value: unknown) => (value == null ? "" : JSON.stringify(value, null, 2));
  const { prompt, response, label, metadata, context } = request;
  return (
    <Section title="Inputs">
      <TextBlock title="Prompt" text={prompt} markdown />
      <TextBlock title="Response" text={response} markdown answer={answerOf(request)} />
      <TextBlock title="Label" text={typeof label === "string" ? label : json(label)} />
      <TextBlock title="Metadata" text={json(metadata)} />
      {context && <TextBlock title="Settings" text={json(context.settings)} />}
    </Section>
  );
}
