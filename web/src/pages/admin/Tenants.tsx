// All tenants, and a form that creates one.

import { TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, data } from "../../api/client";
import { Badge } from "../../parts/Badge";
import { FormDialog } from "../../parts/FormDialog";
import { useFields } from "../../parts/fields";
import { bytes, count, moment } from "../../parts/format";
import { SortedGrid } from "../../parts/SortedGrid";
import { Empty } from "../../parts/states";
import { TextLink } from "../../parts/TextLink";
import { tenantsExport } from "./exported";
import { changed, type Tenant, tenantsQuery } from "./queries";
import { SearchedList, useListed } from "./SearchedList";

export function Tenants() {
  const listed = useListed();
  const tenants = useQuery(tenantsQuery(listed));
  return (
    <SearchedList
      query={tenants}
      what="the tenants"
      label="Name"
      exported={tenantsExport(listed.q)}
      actions={<Create />}
      empty={<Empty title="No tenants yet" />}
    >
      {(items, more) => <Table tenants={items} more={more} />}
    </SearchedList>
  );
}

const PATHS = { name: "name" };

function Create() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { form, fields } = useFields({ name: "" }, PATHS, ({ name }) =>
    name === "" ? { name: "Enter a name." } : {},
  );
  const act = async () => {
    const { name } = form.values;
    await data(api.POST("/v1/tenants", { body: { name } }));
    await changed(queries, "tenants");
    await navigate({ to: "/admin/tenants/$name", params: { name }, search: { tab: "settings" } });
  };
  return (
    <FormDialog
      label="Create a tenant"
      submit="Create"
      variant="filled"
      act={act}
      fields={fields}
      onOpen={form.reset}
    >
      <TextInput
        label="Name"
        description="1 to 64 lower-case letters, digits, - or _. The name is part of URLs and cannot be changed."
        required
        data-autofocus
        {...form.getInputProps("name")}
      />
    </FormDialog>
  );
}

function Table({ tenants, more }: { tenants: Tenant[]; more: boolean }) {
  return (
    <SortedGrid
      caption="Tenants"
      rows={tenants}
      rowKey={(tenant) => tenant.id}
      more={more}
      columns={[
        {
          title: "Name",
          opens: true,
          value: ({ name }) => name,
          cell: ({ name }) => (
            <TextLink to="/admin/tenants/$name" params={{ name }}>
              {name}
            </TextLink>
          ),
        },
        {
          title: "Display name",
          value: ({ settings }) => settings?.display_name || null,
          cell: ({ settings }) => settings?.display_name || "–",
        },
        {
          title: "State",
          value: (tenant) => (tenant.suspended_at ? "suspended" : "active"),
          cell: (tenant) => <State tenant={tenant} />,
        },
        {
          title: "Weight",
          number: true,
          value: ({ settings }) => settings?.weight,
          cell: ({ settings }) => count(settings?.weight),
        },
        {
          title: "Max open batches",
          number: true,
          value: ({ settings }) => settings?.quotas.open_batches_max,
          cell: ({ settings }) => count(settings?.quotas.open_batches_max),
        },
        {
          title: "Max requests per minute",
          number: true,
          value: ({ settings }) => settings?.quotas.requests_per_minute_max,
          cell: ({ settings }) => count(settings?.quotas.requests_per_minute_max),
        },
        {
          title: "Max stored data",
          number: true,
          value: ({ settings }) => settings?.quotas.stored_bytes_max,
          cell: ({ settings }) => bytes(settings?.quotas.stored_bytes_max),
        },
        {
          title: "GPUs",
          value: ({ settings }) => (settings?.grants.gpu ? "granted" : null),
          cell: ({ settings }) => (settings?.grants.gpu ? "granted" : "–"),
        },
        {
          title: "Created",
          tight: true,
          value: (tenant) => tenant.created_at,
          cell: (tenant) => moment(tenant.created_at),
        },
      ]}
    />
  );
}

function State({ tenant }: { tenant: Tenant }) {
  return tenant.suspended_at ? (
    <Badge tone="bad">suspended</Badge>
  ) : (
    <Badge tone="good">active</Badge>
  );
}
