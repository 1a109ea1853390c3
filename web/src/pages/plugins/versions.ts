// Groups versions by plugin.

import type { CaseCounts, Plugin } from "./queries";

export interface PluginVersions {
  name: string;
  /** Newest first. */
  versions: [Plugin, ...Plugin[]];
  channels: { channel: string; version: string }[];
}

/** Groups versions by plugin name. The server lists the newest version first. */
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

/** The version that another one is compared with, if none is chosen: what `prod` points at, or the newest. */
export function defaultBefore(others: readonly Plugin[]): Plugin | undefined {
  return others.find(({ channels }) => channels.includes("prod")) ?? others[0];
}

/** Whether a version has golden cases; one from an earlier release tells nothing of them. */
export function hasCases(counts: CaseCounts | undefined): boolean {
  if (!counts) return false;
  return counts.passed + counts.not_run + counts.skipped > 0;
}
