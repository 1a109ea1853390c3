// Asks the planner what would have become of a past batch with other settings.

import { Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
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
  const start = (asked: SimulateSearch) => {
    void navigate({ search: asked, replace: true });
    simulating.mutate(asked);
  };
  return (
    <Page
      title="Simulate"
      about="What would have become of a past batch with another policy, other bounds or another tolerance."
    >
      <Settings search={search} start={start} busy={simulating.isPending} />
      <Stack aria-live="polite">
        {simulating.isPending && <Loading what="the simulation" height={320} />}
        {simulating.isError && (
          <Failed
            thrown={simulating.error}
            again={() => simulating.variables && simulating.mutate(simulating.variables)}
          />
        )}
        {simulating.isSuccess && <Simulated result={simulating.data} />}
        {simulating.isIdle && (
          <Empty title="Nothing is simulated yet">
            Choose a batch or a run that has ended, change what you like, and simulate it.
          </Empty>
        )}
      </Stack>
    </Page>
  );
}
