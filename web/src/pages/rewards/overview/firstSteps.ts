// The steps to a first batch, for the rights of the user and the plugins of the tenant.

import type { Schemas } from "../../../api/client";
import type { Scope } from "../../../api/session";

type Plugin = Pick<Schemas["Plugin"], "name" | "version" | "channels" | "yanked">;

/** A plugin that runs may name: by channel if it has one. Undefined if the tenant has none. */
export function firstPlugin(plugins: readonly Plugin[]): string | undefined {
  const usable = plugins.filter(({ yanked }) => yanked == null);
  const promoted = usable.find(({ channels }) => channels.includes("prod"));
  if (promoted) return `${promoted.name}@prod`;
  const other = usable.find(({ channels }) => channels.length > 0) ?? usable[0];
  return other && `${other.name}@${other.channels[0] ?? other.version}`;
}

/** Whether the user publishes plugins, makes keys of the tenant, and submits. */
export function whoHelps(scopes: readonly Scope[]) {
  const has = (scope: Scope) => scopes.includes(scope);
  return {
    publishes: has("plugins:publish"),
    makesKeys: has("admin:*") || has("platform:*"),
    submits: has("batches:write"),
  };
}
