import { expect, it } from "vitest";
import { elementsOf, indented, memberOf, membersOf } from "./json";

it.each([
  '{"a":[1,{"b":"x, {y} \\" \\\\"},[],{}],"c":null,"d":-1.5e-7}',
  "[]",
  '["a",1,{"b":2}]',
  '"text"',
  "7",
  "true",
  "",
])("indents %s as JavaScript does", (json) => {
  expect(indented(json)).toBe(json && JSON.stringify(JSON.parse(json), null, 2));
  expect(membersOf(json).size).toBe(json.startsWith("{") ? 3 : 0);
});

it("finds one member and each element with its numbers as they stand", () => {
  const json = '{"items":[ {"a": 9007199254740993,\n"b":[1.0, {}]},"x, y",[],-0.10 ],"next":null}';
  expect(memberOf(json, "next")).toBe("null");
  expect(memberOf(json, "none")).toBeUndefined();
  expect(elementsOf(memberOf(json, "items") ?? "")).toEqual([
    '{"a":9007199254740993,"b":[1.0,{}]}',
    '"x, y"',
    "[]",
    "-0.10",
  ]);
  expect(elementsOf("[]")).toEqual([]);
  expect(elementsOf('{"a":1}')).toEqual([]);
});

it("reads texts of megabytes and deep nesting", () => {
  const text = JSON.stringify('\n"'.repeat(2_000_000));
  const deep = "[".repeat(10_000) + "]".repeat(10_000);
  const members = membersOf(`{"text":${text},"deep":${deep}}`);
  expect(members.get("text")?.length).toBe(text.length);
  expect(members.get("deep")).toBe(deep);
});
