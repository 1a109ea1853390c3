import { expect, it } from "vitest";
import { coloursOf } from "./colours";

it("gives a name the same colour beside others, and others grey", () => {
  const [alone] = coloursOf(["wrong_result"]);
  expect(coloursOf(["faster", "wrong_result", "other"]).slice(1)).toEqual([alone, "grey"]);
  expect(coloursOf(["wrong_result", "faster"])[0]).toBe(alone);
});

it("gives eight names eight colours, whatever their order", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const colours = coloursOf(names);
  expect(new Set(colours).size).toBe(8);
  expect(coloursOf([...names].reverse()).reverse()).toEqual(colours);
});
