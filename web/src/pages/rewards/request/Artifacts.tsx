// Artifacts of the stages, as downloads or text previews.

import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../../api/client";
import { bytes } from "../../../parts/format";
import { Answer } from "../../../parts/states";
import { Section } from "../Section";
import { looksLikeText, textOf } from "./preview";

type Artifact = Schemas["ArtifactSummary"];

export function Artifacts({ id, artifacts }: { id: string; artifacts: Artifact[] }) {
  return (
    <Section title="Artifacts" about="Data that one stage passes to the next.">
      {artifacts.map((artifact) => (
        <ArtifactRow key={artifact.stage} id={id} artifact={artifact} />
      ))}
    </Section>
  );
}

function ArtifactRow({ id, artifact }: { id: string; artifact: Artifact }) {
  const { stage, content_type, bytes: size } = artifact;
  const [shown, setShown] = useState(false);
  const path = `/v1/requests/${id}/artifacts/${encodeURIComponent(stage)}`;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Anchor href={path} download size="sm">
          {`Download ${stage}`}
        </Anchor>
        <Text size="sm" c="dimmed">
          {content_type}, {bytes(size)}
        </Text>
        {looksLikeText(content_type) && (
          <Button
            size="compact-xs"
            variant="default"
            aria-expanded={shown}
            onClick={() => setShown(!shown)}
          >
            {shown ? "Hide" : `Show ${stage}`}
          </Button>
        )}
      </Group>
      {shown && <Preview id={id} stage={stage} />}
    </Stack>
  );
}

function Preview({ id, stage }: { id: string; stage: string }) {
  const artifact = useQuery({
    queryKey: ["requests", id, "artifacts", stage],
    queryFn: async () => {
      const params = { path: { id, stage } };
      const answer = api.GET("/v1/requests/{id}/artifacts/{stage}", {
        params,
        parseAs: "arrayBuffer",
      });
      return textOf(await data(answer));
    },
  });
  return (
    <Answer query={artifact} what="the artifact">
      {({ text, cut }) => (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys must be able to scroll it */}
          <section className="scrolled" tabIndex={0} aria-label={`Artifact of ${stage}`}>
            <pre className="raw">{text}</pre>
          </section>
          {cut && (
            <Text size="xs" c="dimmed">
              Only the beginning is shown. Download the artifact to see all of it.
            </Text>
          )}
        </>
      )}
    </Answer>
  );
}
