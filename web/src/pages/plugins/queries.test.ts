import { expect, it } from "vitest";
import { versionsOf } from "./queries";

it("keeps the schemas of versions as the server sent them", () => {
  const schema = '{"type":"integer","maximum":9223372036854775807}';
  const { items } = versionsOf(
    `{"items":[{"version":"1.0.0","label_schema":${schema}},{"version":"0.9.0","settings_schema":null}]}`,
  );
  expect(items).toEqual([{ version: "1.0.0", label_schema: schema }, { version: "0.9.0" }]);
});
