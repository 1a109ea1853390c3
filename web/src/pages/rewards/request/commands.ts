// Shell commands that run a request again.

import type { Request } from "../queries";
import { sourceOf } from "./source";

/** Quotes for a shell: within single quotes only the quote itself is special. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The inputs of a request beside its texts, as the JSON that the server sent. */
function sourcesOf(request: Request): [string, string][] {
  return (["label", "metadata", "settings"] as const).flatMap((name): [string, string][] => {
    const source = sourceOf(request, name);
    return source === undefined ? [] : [[name, source]];
  });
}

/** Sends the same plugin, settings and inputs as a single request. */
export function curlOf(request: Request, origin: string): string {
  const { context, prompt, response } = request;
  const members: [string, string][] = [
    ["plugin", JSON.stringify(context?.plugin ?? "NAME@VERSION")],
    ["prompt", JSON.stringify(prompt)],
    ["response", JSON.stringify(response)],
    ...sourcesOf(request),
  ];
  const body = members.map(([name, json]) => `"${name}":${json}`).join(",");
  return [
    `curl ${quoted(`${origin}/v1/rewards`)} \\`,
    '  -H "Authorization: Bearer $ASSAY_API_KEY" -H "Content-Type: application/json" \\',
    `  --data-raw ${quoted(`{${body}}`)}`,
  ].join("\n");
}

/** The same request by the Python client, which reads ASSAY_URL and ASSAY_API_KEY. */
export function pythonOf(request: Request): string {
  const { context, prompt, response } = request;
  const named = [
    ["prompt", JSON.stringify(prompt)],
    ["response", JSON.stringify(response)],
    // A JSON string is a Python string, too.
    ...sourcesOf(request).map(([name, json]) => [name, `json.loads(${JSON.stringify(json)})`]),
  ];
  return [
    "import json",
    "",
    "from assay import Client",
    "",
    "with Client() as client:",
    "    reward = client.reward(",
    `        ${JSON.stringify(context?.plugin ?? "NAME@VERSION")},`,
    ...named.map(([name, value]) => `        ${name}=${value},`),
    "    )",
    "print(reward)",
    "",
  ].join("\n");
}

/** Reads the results of a batch by the Python client. */
export function pythonResultsOf(batch: string): string {
  return [
    "from assay import Client",
    "",
    "with Client() as client:",
    `    for result in client.results(${JSON.stringify(batch)}):`,
    "        print(result)",
    "",
  ].join("\n");
}

/** Reads the samples of a run by the Python client. */
export function pythonSamplesOf(run: string): string {
  return [
    "from assay import Client",
    "",
    "with Client() as client:",
    `    for sample in client.samples(${JSON.stringify(run)}):`,
    "        print(sample.iteration, sample.key, sample.reward)",
    "",
  ].join("\n");
}

export function replayCommand(id: string, version: string | undefined): string {
  return `assay request replay ${id}${version ? ` --version ${quoted(version)}` : ""}`;
}
