import { expect, it } from "vitest";
import { ProblemError } from "../api/client";
import { fieldErrors } from "./fields";

const PATHS = {
  email: "email",
  weight: "weight",
  "quotas.workers_max.*": "workers.*",
  name: "name",
};
const refused = (detail: string, field?: string) =>
  new ProblemError(400, "bad_request", detail, undefined, field);

it("finds the field that the server names", () => {
  expect(fieldErrors(refused("weight must be 1 to 100, not 0", "weight"), PATHS)).toEqual({
    weight: "Must be 1 to 100, not 0",
  });
  expect(fieldErrors(refused("email must be an address", "email"), PATHS)).toEqual({
    email: "Must be an address",
  });
  const workers = refused("workers_max of pool `gpu` must be at most 9", "quotas.workers_max.gpu");
  expect(fieldErrors(workers, PATHS)).toEqual({ "workers.gpu": "Must be at most 9" });
  // The text alone names nothing: it may change, and it may hold what somebody typed.
  expect(fieldErrors(refused("tenant `weight must be` is wrong", "name"), PATHS)).toEqual({
    name: "Tenant `weight must be` is wrong",
  });
});

it("leaves other refusals and failures of the server to the form", () => {
  expect(fieldErrors(refused("weight must be 1 to 100"), PATHS)).toEqual({});
  expect(fieldErrors(refused("no such", "quotas.stored_bytes_max"), PATHS)).toEqual({});
  expect(fieldErrors(refused("no such", "constructor"), PATHS)).toEqual({});
  expect(fieldErrors(new TypeError("email"), PATHS)).toEqual({});
});
