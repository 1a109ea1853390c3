import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import type { Request } from "../queries";
import { curlOf, pythonOf, pythonResultsOf, quoted, replayCommand } from "./commands";

const NASTY = "it's $HOME `id` \"quoted\" \\n\nline 'two'";

const request: Request = {
  id: "b.7",
  key: "k",
  group: null,
  prompt: NASTY,
  response: "r",
  label: { answer: "42" },
  metadata: null,
  arrived_at: "2026-01-01T00:00:00Z",
  result: null,
  context: {
    run: "run",
    iteration: 1,
    batch_state: "done",
    plugin: "math@1.2.3",
    plugin_digest: "sha256:0",
    settings: {},
    spans: [],
    artifacts: [],
  },
};

it("quotes any text as one word for a shell", () => {
  expect(execFileSync("sh", ["-c", `printf %s ${quoted(NASTY)}`], { encoding: "utf8" })).toBe(
    NASTY,
  );
});

it("sends exactly the inputs of the request", () => {
  const command = curlOf(request, "http://127.0.0.1:7700");
  const echo = command.replace(/^curl /, "printf '%s\\n' ");
  const words = execFileSync("sh", ["-c", `${echo} | tail -n 1`], { encoding: "utf8" });
  expect(JSON.parse(words)).toEqual({
    plugin: "math@1.2.3",
    prompt: NASTY,
    response: "r",
    label: { answer: "42" },
    settings: {},
  });
  expect(command).toContain("Bearer $ASSAY_API_KEY");
});

it("replays with the given version", () => {
  expect(replayCommand("b.7", undefined)).toBe("assay request replay b.7");
  expect(replayCommand("b.7", "1.3.0")).toBe("assay request replay b.7 --version '1.3.0'");
});

it("writes Python that reads back the same request", () => {
  const client = [
    "import json, sys, types",
    "class Client:",
    "    def __enter__(self): return self",
    "    def __exit__(self, *_): pass",
    "    def reward(self, plugin, **named): return json.dumps({'plugin': plugin, **named})",
    "    def results(self, batch): return [batch]",
    "sys.modules['assay'] = types.SimpleNamespace(Client=Client)",
    "",
  ].join("\n");
  const run = (text: string) =>
    execFileSync("python3", ["-c", client + text], { encoding: "utf8" });
  expect(JSON.parse(run(pythonOf(request)))).toEqual({
    plugin: "math@1.2.3",
    prompt: NASTY,
    response: "r",
    label: { answer: "42" },
    settings: {},
  });
  expect(run(pythonResultsOf("b")).trim()).toBe("b");
});
