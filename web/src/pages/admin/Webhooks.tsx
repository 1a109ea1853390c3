// The webhooks of the current tenant: addresses and chats that are told of incidents.

import { Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { Badge } from "../../parts/Badge";
import { BookLink } from "../../parts/BookLink";
import { ConfirmButton } from "../../parts/ConfirmButton";
import { ago } from "../../parts/format";
import { KINDS } from "../../parts/incidents";
import { SortedGrid } from "../../parts/SortedGrid";
import { Answer, Empty } from "../../parts/states";
import { AddWebhook } from "./AddWebhook";
import { changed, type Webhook, webhooksQuery } from "./queries";
import { deliveryStatus } from "./webhooks";

/** `platform`: whether the user may have a webhook told of the platform's incidents. */
export function Webhooks({ platform }: { platform: boolean }) {
  const webhooks = useQuery(webhooksQuery());
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          Each webhook gets one message per incident, and another every hour while it goes on.
        </Text>
        <AddWebhook platform={platform} />
      </Group>
      <Answer query={webhooks} what="the webhooks">
        {({ items }) =>
          items.length > 0 ? (
            <WebhookTable webhooks={items} />
          ) : (
            <Empty title="No webhooks yet">
              A webhook tells your chat or your own service of late batches, failed requests and
              other incidents. An administrator of the platform grants its host first.
              <BookLink to="operations/tenants">More about incidents</BookLink>
            </Empty>
          )
        }
      </Answer>
    </Stack>
  );
}

function WebhookTable({ webhooks }: { webhooks: Webhook[] }) {
  return (
    <SortedGrid
      caption="Webhooks"
      rows={webhooks}
      rowKey={(webhook) => webhook.id}
      columns={[
        { title: "Name", tight: true, value: (it) => it.name, cell: (it) => it.name },
        {
          title: "To",
          hint: "Host of the address; the rest may be a secret",
          value: (it) => it.to,
          cell: (it) => it.to,
        },
        {
          title: "Incidents",
          cell: (it) =>
            [
              it.kinds.map((kind) => KINDS[kind].label).join(", ") || "all",
              ...(it.platform ? ["and the platform's"] : []),
            ].join(" "),
        },
        {
          title: "Latest",
          value: (it) => it.latest?.made_at,
          cell: (it) => <Latest of={it} />,
        },
        { title: "Actions", cell: (it) => <Actions of={it} /> },
      ]}
    />
  );
}

function Latest({ of }: { of: Webhook }) {
  const { label, tone } = deliveryStatus(of.latest);
  return (
    <div>
      <Badge tone={tone}>{label}</Badge>
      {of.latest && (
        <Text size="xs" c="dimmed">
          {[ago(of.latest.made_at), of.latest.error].filter(Boolean).join(": ")}
        </Text>
      )}
    </div>
  );
}

function Actions({ of }: { of: Webhook }) {
  const queries = useQueryClient();
  const params = { path: { id: of.id } };
  const test = async () => {
    await data(api.POST("/v1/webhooks/{id}/test", { params }));
    await changed(queries, "webhooks");
  };
  const remove = async () => {
    await data(api.DELETE("/v1/webhooks/{id}", { params }));
    await changed(queries, "webhooks");
  };
  return (
    <Group gap="xs" wrap="nowrap">
      <ConfirmButton
        label="Test"
        describes={of.name}
        act={test}
        done={`A test message is on its way to ${of.name}`}
      >
        <Text size="sm">Sends a test message to {of.to} within seconds.</Text>
      </ConfirmButton>
      <ConfirmButton
        label="Remove"
        describes={of.name}
        danger
        act={remove}
        done={`The webhook ${of.name} is removed`}
      >
        <Text size="sm">{of.to} gets no more messages. Messages not yet sent are dropped.</Text>
      </ConfirmButton>
    </Group>
  );
}
