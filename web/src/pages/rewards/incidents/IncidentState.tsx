// Whether an incident is acknowledged, and the buttons that change it.

import { Button, Group, Menu, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../../api/client";
import { useSession } from "../../../api/session";
import { moment } from "../../../parts/format";
import { Failed } from "../../../parts/states";
import { isMuted, mayAcknowledge } from "./acknowledgement";

type Incident = Schemas["Incident"];

/** Hours for which incidents are muted, in words. */
const MUTES = [
  { hours: 1, label: "Mute for 1 hour" },
  { hours: 24, label: "Mute for 1 day" },
  { hours: 168, label: "Mute for 1 week" },
];

export function IncidentState({ incident }: { incident: Incident }) {
  const session = useSession();
  const queries = useQueryClient();
  const { id, acknowledged } = incident;
  const params = { path: { id } };
  const changing = useMutation({
    /** Null reopens the incident. */
    mutationFn: async (mute_hours: number | null) => {
      if (mute_hours === null) await data(api.POST("/v1/incidents/{id}/reopen", { params }));
      else {
        await data(api.POST("/v1/incidents/{id}/acknowledge", { params, body: { mute_hours } }));
      }
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["incidents"] }),
        queries.invalidateQueries({ queryKey: ["overview"] }),
      ]);
    },
  });
  const name =
    `${incident.kind.replaceAll("_", " ")} ${incident.run ?? incident.pool ?? ""}`.trim();
  const mayChange = mayAcknowledge(session, incident);
  return (
    <Stack gap={4} align="flex-start">
      {acknowledged && (
        <Text size="xs" c="dimmed">
          {isMuted(acknowledged, Date.now())
            ? `Muted by ${acknowledged.by} until ${moment(acknowledged.until)}`
            : `Acknowledged by ${acknowledged.by}`}
        </Text>
      )}
      {mayChange && (
        <Group gap={4} wrap="nowrap">
          <Button
            size="compact-xs"
            variant="default"
            loading={changing.isPending}
            aria-label={`${acknowledged ? "Reopen" : "Acknowledge"}: ${name}`}
            onClick={() => changing.mutate(acknowledged ? null : 0)}
          >
            {acknowledged ? "Reopen" : "Acknowledge"}
          </Button>
          {!acknowledged && (
            <Menu position="bottom-end">
              <Menu.Target>
                <Button size="compact-xs" variant="default" aria-label={`Mute: ${name}`}>
                  Mute
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {MUTES.map(({ hours, label }) => (
                  <Menu.Item key={hours} onClick={() => changing.mutate(hours)}>
                    {label}
                  </Menu.Item>
                ))}
              </Menu.Dropdown>
            </Menu>
          )}
        </Group>
      )}
      {!mayChange && !acknowledged && <Text size="xs">open</Text>}
      {changing.isError && <Failed thrown={changing.error} />}
    </Stack>
  );
}
