// Serves a dashboard that is not built into the server: files of a folder under the server's own content
// security policy, and everything else from the server. ASSAY_DIST=dist tries changes without a new server.

import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const TYPES: Record<string, string> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const NONCE = 'name="csp-nonce" content="';

/** Starts a server in front of `url`, which keeps its address when that server restarts. */
export async function serveFront(
  url: string,
  folder: string,
): Promise<{ url: string; server: Server }> {
  const { hostname, port } = new URL(url);
  const server = createServer((asked, answer) => {
    const path = (asked.url ?? "/").split("?")[0] ?? "/";
    const file = join(folder, path);
    if (path !== "/" && TYPES[extname(path)] && existsSync(file) && statSync(file).isFile()) {
      answer.writeHead(200, { "content-type": TYPES[extname(path)] });
      answer.end(readFileSync(file));
      return;
    }
    const headers = { ...asked.headers, "accept-encoding": "identity" };
    const onward = request(
      { hostname, port, path: asked.url, method: asked.method, headers },
      (answered) => {
        if (!answered.headers["content-type"]?.startsWith("text/html")) {
          answer.writeHead(answered.statusCode ?? 502, answered.headers);
          answered.pipe(answer);
          return;
        }
        const policy = String(answered.headers["content-security-policy"]);
        const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
        const page = readFileSync(join(folder, "index.html"), "utf8");
        answered.resume();
        const { "content-length": _, ...kept } = answered.headers;
        answer.writeHead(200, kept);
        answer.end(page.replace(NONCE, `${NONCE}${nonce}`));
      },
    );
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
