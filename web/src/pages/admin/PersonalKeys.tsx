// The keys that users make for their own programs in the current tenant.

import { Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { useSession } from "../../api/session";
import { BookLink } from "../../parts/BookLink";
import { Page } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { present } from "../../parts/search";
import { Answer, Empty } from "../../parts/states";
import { CreateKey } from "./CreateKey";
import { KeyTable, Revoke } from "./Keys";
import { personalScopes } from "./keys";
import { changed, type Key, personalKeysQuery } from "./queries";
import { useListed } from "./SearchedList";
import { useAdminSearch } from "./tabs";

export function PersonalKeys() {
  const session = useSession();
  const { search, set } = useAdminSearch();
  const keys = useQuery(personalKeysQuery(useListed()));
  const make = (body: Schemas["CreatePersonalKey"]) => data(api.POST("/v1/session/keys", { body }));
  return (
    <Page
      title="Your keys"
      about={`For your programs in ${session.tenant}. A key never does more than your role, and stops when you leave.`}
      actions={<CreateKey offered={personalScopes(session.scopes)} make={make} />}
    >
      <Answer query={keys} what="your keys">
        {({ items, next }) =>
          items.length > 0 ? (
            <Stack gap="sm">
              <KeyTable
                caption="Your keys"
                keys={items}
                more={next != null || search.after !== undefined}
                actions={(key) => <RevokeOwn of={key} />}
              />
              <Pager
                after={search.after}
                next={next}
                onGo={(after) => set(present({ ...search, after }))}
                rows={search.rows}
                onRows={(rows) => set(present({ ...search, after: undefined, rows }))}
              />
            </Stack>
          ) : (
            <Empty title="No keys yet">
              Trainers and the command line need a key. Create one and set it as{" "}
              <code>ASSAY_API_KEY</code>.
              <BookLink to="trainers">What to do with it, by trainer</BookLink>
            </Empty>
          )
        }
      </Answer>
    </Page>
  );
}

function RevokeOwn({ of }: { of: Key }) {
  const queries = useQueryClient();
  if (of.revoked_at) return null;
  const act = async () => {
    await data(api.POST("/v1/session/keys/{id}/revoke", { params: { path: { id: of.id } } }));
    await changed(queries, "keys");
  };
  return <Revoke of={of} act={act} />;
}
