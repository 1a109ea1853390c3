import { expect, it } from "vitest";
import { runOf } from "./queries";

it("keeps the settings of a run as the server sent them", () => {
  const settings = '{"seed":18446744073709551615,"share":1.0}';
  const view = runOf(`{"run":{"name":"r","settings":{}},"settings":${settings},"earlier":false}`);
  expect(view.settings).toBe(settings);
  expect(view.run.name).toBe("r");
});
