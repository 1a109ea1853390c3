import { expect, it } from "vitest";
import { ProblemError } from "../api/client";
import { type FieldRule, fieldErrors } from "./fields";

const RULES: FieldRule[] = [
  [/^email /, "email"],
  [/^weight /, "weight"],
  [/^workers_max of pool `([^`]+)`/, (pool) => `workers.${pool}`],
  [/^tenant `/, "name"],
];
const refused = (detail: string, status = 400) => new ProblemError(status, "bad_request", detail);

it("finds the field that the server names", () => {
  expect(fieldErrors(refused("weight must be 1 to 100, not 0"), RULES)).toEqual({
    weight: "Must be 1 to 100, not 0",
  });
  expect(fieldErrors(refused("email must be an address"), RULES)).toEqual({
    email: "Must be an address",
  });
  expect(fieldErrors(refused("workers_max of pool `gpu` must be at most 9"), RULES)).toEqual({
    "workers.gpu": "Must be at most 9",
  });
  expect(fieldErrors(refused("tenant `A` must be lower-case"), RULES)).toEqual({
    name: "Tenant `A` must be lower-case",
  });
});

it("leaves other refusals and failures of the server to the form", () => {
  expect(fieldErrors(refused("something else"), RULES)).toEqual({});
  expect(fieldErrors(refused("weight is lost", 503), RULES)).toEqual({});
  expect(fieldErrors(new TypeError("email"), RULES)).toEqual({});
});
