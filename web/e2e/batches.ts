// Sends batches through the REST API, as a trainer does.

import { expect } from "@playwright/test";
import type { Host } from "./host";

export interface Item {
  key: string;
  group?: string;
  prompt: string;
  response: string;
  label?: unknown;
}

export interface Announced {
  plugin: string;
  run: string;
  iteration?: number;
  expected_size?: number;
  group_size?: number;
  max_extra_delay_ms?: number;
}

export interface Batch {
  id: string;
  state: string;
}

export function announce(host: Host, batch: Announced, key?: string): Promise<Batch> {
  return host.call<Batch>("POST", "/v1/batches", batch, key);
}

export async function submit(host: Host, batch: Batch, items: readonly Item[]): Promise<void> {
  await host.call("POST", `/v1/batches/${batch.id}/requests`, items);
}

/** Announces a batch, submits its items and waits for its end. */
export async function scoreBatch(
  host: Host,
  call: Announced,
  items: readonly Item[],
): Promise<Batch> {
  const batch = await announce(host, { ...call, expected_size: items.length });
  await submit(host, batch, items);
  await ended(host, batch);
  return batch;
}

export async function ended(host: Host, batch: Batch): Promise<void> {
  const state = async () => (await host.call<Batch>("GET", `/v1/batches/${batch.id}`)).state;
  await expect.poll(state, { timeout: 120_000 }).toBe("done");
}

/** Items for the guest `liar`, which does what a response says. */
export function liarItems(from: number, responses: readonly string[]): Item[] {
  return responses.map((response, at) => ({
    key: `sample-${from + at}`,
    group: `prompt-${Math.floor((from + at) / 2)}`,
    prompt: "Do as you are told.",
    response,
    label: "1",
  }));
}
