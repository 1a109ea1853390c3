// Changes the settings of a tenant by a merge patch.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { changed, type TenantSettings } from "./queries";

export function useSettings(name: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (patch: object) =>
      data(
        api.PATCH("/v1/tenants/{name}", {
          params: { path: { name } },
          // A merge patch has fewer fields than the settings type, and may contain null.
          body: patch as TenantSettings,
        }),
      ),
    onSuccess: () => changed(queries, "tenants"),
  });
}
