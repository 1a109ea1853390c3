// Shell commands that run a request again.

import type { Request } from "../queries";

/** Quotes for a shell: within single quotes only the quote itself is special. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Sends the same plugin, settings and inputs as a single request. */
export function curlOf(request: Request, origin: string): string {
  const { context, prompt, response, label, metadata } = request;
  const body = {
    ...(context ? { plugin: context.plugin } : { plugin: "NAME@VERSION" }),
    prompt,
    response,
    ...(label == null ? {} : { label }),
    ...(metadata == null ? {} : { metadata }),
    ...(context ? { settings: context.settings } : {}),
  };
  return [
    `curl ${quoted(`${origin}/v1/rewards`)} \\`,
    '  -H "Authorization: Bearer $ASSAY_API_KEY" -H "Content-Type: application/json" \\',
    `  --data-raw ${quoted(JSON.stringify(body))}`,
  ].join("\n");
}

/** The same request by the Python client, which reads ASSAY_URL and ASSAY_API_KEY. */
export function pythonOf(request: Request): string {
  const { context, prompt, response, label, metadata } = request;
  // A JSON string is a Python string, too.
  const json = (value: unknown) => `json.loads(${JSON.stringify(JSON.stringify(value))})`;
  const named = [
    ["prompt", JSON.stringify(prompt)],
    ["response", JSON.stringify(response)],
    ...(label == null ? [] : [["label", json(label)]]),
    ...(metadata == null ? [] : [["metadata", json(metadata)]]),
    ...(context ? [["settings", json(context.settings)]] : []),
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
