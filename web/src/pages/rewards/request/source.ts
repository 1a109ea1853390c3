// The label, metadata and settings of a request as the JSON text that the server sent. JavaScript rounds numbers above
// 2^53 and writes `1.0` as `1`, but people copy these values to score the request again.

import type { Schemas } from "../../../api/client";
import { indented, membersOf } from "../../../parts/json";

export type SourcedRequest = Schemas["Request"] & {
  sources?: Partial<Record<Sourced, string>>;
};

export type Sourced = "label" | "metadata" | "settings";

/** Reads the answer of `GET /v1/requests/{id}`. */
export function requestOf(json: string): SourcedRequest {
  const request = JSON.parse(json) as Schemas["Request"];
  const members = membersOf(json);
  const label = members.get("label");
  const metadata = members.get("metadata");
  const settings = membersOf(members.get("context") ?? "").get("settings");
  const sources = {
    ...(label === undefined ? {} : { label }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(settings === undefined ? {} : { settings }),
  };
  return { ...request, sources };
}

/** The JSON text of an input; undefined where it is absent or null. */
export function sourceOf(request: SourcedRequest, name: Sourced): string | undefined {
  const value = name === "settings" ? request.context?.settings : request[name];
  return value == null ? undefined : (request.sources?.[name] ?? JSON.stringify(value));
}

/** An input as people read it: a text without quotes, other values on lines of their own; empty where absent. */
export function shownOf(request: SourcedRequest, name: Sourced): string {
  if (name === "label" && typeof request.label === "string") return request.label;
  return indented(sourceOf(request, name) ?? "");
}
