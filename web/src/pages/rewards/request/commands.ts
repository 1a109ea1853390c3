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

export function replayCommand(id: string, version: string | undefined): string {
  return `assay request replay ${id}${version ? ` --version ${quoted(version)}` : ""}`;
}
