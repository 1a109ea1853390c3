// Colours of names, so that a verdict looks alike in every run.

import type { Colour } from "../../../parts/Plot";
import { SERIES } from "../../../theme";
import { OTHER } from "./fold";

const COUNT = SERIES.light.length;

/**
 * A colour for each name: its own, which depends on the name alone, or the next one that is free where another name of the
 * chart has it. What is summed up as `other` is grey.
 */
export function coloursOf(names: readonly string[]): Colour[] {
  const taken = new Map<number, string>();
  // In the order of names, so that shares that change do not change colours.
  for (const name of [...names].filter((one) => one !== OTHER).sort()) {
    let colour = hashOf(name) % COUNT;
    for (let tries = 0; taken.has(colour) && tries < COUNT; tries += 1) {
      colour = (colour + 1) % COUNT;
    }
    taken.set(colour, name);
  }
  const byName = new Map([...taken].map(([colour, name]) => [name, colour]));
  return names.map((name) => (name === OTHER ? "grey" : (byName.get(name) ?? "grey")));
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const character of name) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash;
}
