import { expect, it } from "vitest";
import { gathered } from "./marks";

it("gathers marks at one place, in the order of places", () => {
  const marks = [
    { at: 7, label: "prod 0.3.0" },
    { at: 2, label: "prod 0.2.0" },
    { at: 7, label: "test 0.3.0" },
  ];
  expect(gathered(marks)).toEqual([
    { at: 2, label: "prod 0.2.0" },
    { at: 7, label: "prod 0.3.0, test 0.3.0" },
  ]);
});
