// Starts a server with its own data folder and runs the programs of the project.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { serveFront } from "./front";

const READY_WITHIN_MS = 120_000;
const target = resolve(
  process.env.CARGO_TARGET_DIR ?? resolve(import.meta.dirname, "../../target"),
);
const program = process.env.ASSAY_PROGRAM ?? join(target, "debug/assay");
const seeder = join(dirname(program), "assay-seed");
const run = promisify(execFile);

/** Path of a plugin component that `make plugins` builds. */
export function component(name: string): string {
  return join(target, `wasm32-wasip2/plugin/assay_plugin_${name}.wasm`);
}

/** Path of a test guest that `make guests` builds. */
export function guest(name: string): string {
  return join(target, `wasm32-wasip2/plugin/examples/${name}.wasm`);
}

export interface Start {
  /** Worker pools, such as `cpu=2`. */
  workers?: string;
  options?: string[];
  /** Options of `assay-seed`, which fills the database before the server starts. */
  seed?: string[];
}

/** A refusal of the server. */
export class RequestRefused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
  ) {
    super(`${status} ${code}: ${detail}`);
  }
}

export class Host {
  readonly data: string;
  /** Address of the dashboard and the interface. */
  url = "";
  key = "";
  /** Address at which the server listens: `url`, if no folder is served in front of it. */
  private own = "";
  private front: Server | undefined;
  private child: ChildProcess | undefined;

  private constructor(
    private readonly folder: string,
    private readonly options: readonly string[],
  ) {
    this.data = join(folder, "data");
  }

  /** Starts a server and waits until it is ready. */
  static async start({ workers = "cpu=2", options = [], seed }: Start = {}): Promise<Host> {
    const folder = mkdtempSync(join(tmpdir(), "assay-e2e-"));
    // When started by root, PostgreSQL runs as another user, who needs to enter the folder.
    await run("chmod", ["711", folder]);
    const host = new Host(folder, ["--workers", workers, ...options]);
    if (seed) await run(seeder, ["--data", host.data, ...seed], { env: ownEnvironment() });
    await host.serve("127.0.0.1:0");
    return host;
  }

  private async serve(listen: string): Promise<void> {
    const ready = join(this.folder, "ready.json");
    const log = openSync(join(this.folder, "log"), "a");
    this.child = spawn(
      program,
      ["serve", "--listen", listen, "--environment", "test"]
        .concat("--data", this.data, "--ready-file", ready)
        .concat(this.options),
      { stdio: ["ignore", log, log], env: ownEnvironment() },
    );
    closeSync(log);
    const started = Date.now();
    while (!existsSync(ready)) {
      const ended = this.child.exitCode !== null || this.child.signalCode !== null;
      if (ended || Date.now() - started > READY_WITHIN_MS) {
        throw new Error(`the server is not ready:\n${this.log()}`);
      }
      // Polls a file that another process writes; the time is bounded.
      await new Promise((soon) => setTimeout(soon, 20));
    }
    const { url, key } = JSON.parse(readFileSync(ready, "utf8")) as { url: string; key: string };
    this.key = key;
    this.own = url;
    if (this.front) return;
    this.url = url;
    if (!process.env.ASSAY_DIST) return;
    const { url: shown, server } = await serveFront(url, resolve(process.env.ASSAY_DIST));
    this.url = shown;
    this.front = server;
  }

  log(): string {
    return readFileSync(join(this.folder, "log"), "utf8");
  }

  /** Token that creates the first administrator of the platform. */
  bootstrapToken(): string {
    return readFileSync(join(this.data, "bootstrap.token"), "utf8").trim();
  }

  /** Runs the command line with the first key. */
  async assay(...words: string[]): Promise<string> {
    const env = { ...ownEnvironment(), ASSAY_URL: this.url, ASSAY_API_KEY: this.key };
    return (await run(program, words, { env, maxBuffer: 1 << 26 })).stdout;
  }

  /** Calls the REST API with the first key or another one. */
  async call<T>(method: string, path: string, body?: unknown, key = this.key): Promise<T> {
    const answer = await fetch(new URL(path, this.url), {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) {
      const { code, detail } = JSON.parse(text) as { code: string; detail: string };
      throw new RequestRefused(answer.status, code, detail);
    }
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** Publishes a component, points `prod` to it and returns `name@prod`. */
  async publish(file: string | Buffer): Promise<string> {
    const answer = await fetch(new URL("/v1/plugins", this.url), {
      method: "POST",
      headers: { authorization: `Bearer ${this.key}`, "content-type": "application/wasm" },
      body: new Uint8Array(typeof file === "string" ? readFileSync(file) : file),
    });
    if (!answer.ok) throw new Error(`publishing: ${answer.status} ${await answer.text()}`);
    const { name, version } = (await answer.json()) as { name: string; version: string };
    await this.call("PUT", `/v1/plugins/${name}/channels/prod`, { version });
    return `${name}@prod`;
  }

  /** Stops the server with its workers and database. Its data stays. */
  async stopServer(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    await ended;
    rmSync(join(this.folder, "ready.json"), { force: true });
  }

  /** Starts the server again at the same address with the same data. */
  async restart(): Promise<void> {
    await this.serve(new URL(this.own).host);
  }

  async stop(): Promise<void> {
    await this.stopServer();
    this.front?.close();
    this.front?.closeAllConnections();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The environment without variables that select another server's data. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { DATABASE_URL: _, ASSAY_DATA: __, ...env } = process.env;
  return env;
}
