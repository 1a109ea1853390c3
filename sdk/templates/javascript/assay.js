// What a plugin is made of; the interface itself is vendor/wit/reward/reward.wit.

const MIB = 1024 * 1024;

/** A request that no reward can be given: the trainer's data or settings are wrong, or a service is away. */
export class Refused extends Error {
  constructor(tag, message) {
    super(message);
    this.tag = tag;
  }
}

export const badRequest = (message) => new Refused("bad-request", message);
export const badSettings = (message) => new Refused("bad-settings", message);
/** It is tried again. */
export const unavailable = (message) => new Refused("unavailable", message);

/** The end of a request: a finite reward, one word for what happened, more numbers by name, a text. */
export function scored(reward, verdict, { components = {}, explanation = "" } = {}) {
  const list = Object.entries(components).map(([name, value]) => ({ name, value }));
  return { tag: "scored", val: { reward, verdict, components: list, explanation } };
}

/** What the next stage gets as its `input`: bytes (a Uint8Array) and what they are. */
export function next(contentType, bytes) {
  return { tag: "next", val: { contentType, bytes } };
}

/**
 * The plugin, from a description and its stages in order. A stage's `run` is given `response`, `prompt`,
 * `label`, `metadata` and `settings` (parsed), `seed`, `group`, `attempt`, and the `input` of the stage before.
 */
export function definePlugin({ name, version, summary = "", stages, ...more }) {
  const { settingsSchema, labelSchema, timeoutReward = 0, deterministic = true } = more;
  const schema = (given) => (given === undefined ? "" : JSON.stringify(given));
  return {
    describe: () => ({
      name,
      version,
      summary,
      stages: stages.map((stage) => ({
        name: stage.name,
        pool: stage.pool ?? "cpu",
        timeoutMs: stage.timeoutMs ?? 1_000,
        memoryBytesMax: (stage.memoryMibMax ?? 64) * MIB,
        retriesMax: stage.retriesMax ?? 0,
      })),
      settingsSchema: schema(settingsSchema),
      labelSchema: schema(labelSchema),
      timeoutReward,
      deterministic,
    }),
    runStage(name, settings, request, input) {
      const stage = stages.find((stage) => stage.name === name);
      try {
        return stage.run({
          ...request,
          // JSON.parse rounds whole numbers beyond 2^53, which the texts have in full.
          labelText: request.label,
          metadataText: request.metadata,
          label: JSON.parse(request.label),
          metadata: JSON.parse(request.metadata),
          settings: JSON.parse(settings),
          input,
        });
      } catch (error) {
        if (error instanceof Refused) throw { tag: error.tag, val: error.message };
        throw { tag: "internal", val: `${error}\n${error?.stack ?? ""}` };
      }
    },
  };
}
