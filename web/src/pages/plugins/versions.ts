// Versions folded into plugins.

import type { Plugin } from "./queries";

export interface PluginVersions {
  name: string;
  /** The newest first. */
  versions: [Plugin, ...Plugin[]];
  channels: { channel: string; version: string }[];
}

/** By name; of each the newest version comes first, as the server lists them. */
export function byName(plugins: readonly Plugin[]): PluginVersions[] {
  const names = new Map<string, PluginVersions>();
  for (const plugin of plugins) {
    const known = names.get(plugin.name);
    if (known) known.versions.push(plugin);
    else names.set(plugin.name, { name: plugin.name, versions: [plugin], channels: [] });
    const pointed = plugin.channels.map((channel) => ({ channel, version: plugin.version }));
    names.get(plugin.name)?.channels.push(...pointed);
  }
  for (const { channels } of names.values()) {
    channels.sort((a, b) => a.channel.localeCompare(b.channel));
  }
  return [...names.values()].sort((a, b) => a.name.localeCompare(b.name));
}
