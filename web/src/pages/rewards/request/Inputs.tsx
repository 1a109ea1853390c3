// Inputs of a request as text: prompt, response, label, metadata and settings of the run.

import type { Request } from "../queries";
import { Section } from "../Section";
import { answerOf } from "../text/answer";
import { shownOf } from "./source";
import { TextBlock } from "./TextBlock";

export function Inputs({ request }: { request: Request }) {
  const { prompt, response, context } = request;
  return (
    <Section title="Inputs">
      <TextBlock title="Prompt" text={prompt} markdown />
      <TextBlock title="Response" text={response} markdown answer={answerOf(request)} />
      <TextBlock title="Label" text={shownOf(request, "label")} />
      <TextBlock title="Metadata" text={shownOf(request, "metadata")} />
      {context && <TextBlock title="Settings" text={shownOf(request, "settings")} />}
    </Section>
  );
}
