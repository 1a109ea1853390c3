// Replays a past batch with other planner settings.

import { Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, data } from "../../api/client";
import { Page } from "../../parts/Page";
import { Empty, Failed, Loading } from "../../parts/states";
import { requestOf, type SimulateSearch } from "./form";
import { Settings } from "./Settings";
import { Simulated } from "./Simulated";

const route = getRouteApi("/shell/simulate");

export function Simulate() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const simulating = useMutation({
    mutationFn: (asked: SimulateSearch) =>
      data(api.POST("/v1/simulations", { body: requestOf(asked) })),
  });
  const [atField, setAtField] = useState(false);
  const start = (asked: SimulateSearch, refuse: (thrown: unknown) => boolean) => {
    void navigate({ search: asked, replace: true });
    simulating.mutate(asked, { onError: (thrown) => setAtField(refuse(thrown)) });
  };
  return (
    <Page
      title="Simulate"
      about="Replay a past batch with a different policy, worker limits or delay tolerance."
    >
      <Settings search={search} start={start} busy={simulating.isPending} />
      <Stack aria-live="polite">
        {simulating.isPending && <Loading what="the simulation" height={320} />}
        {simulating.isError && !atField && (
          <Failed
            thrown={simulating.error}
            retry={() => simulating.variables && simulating.mutate(simulating.variables)}
          />
        )}
        {simulating.isSuccess && <Simulated result={simulating.data} />}
        {simulating.isIdle && (
          <Empty title="No simulation yet">
            Choose a completed batch or a run, change the settings and select Simulate.
          </Empty>
        )}
      </Stack>
    </Page>
  );
}
