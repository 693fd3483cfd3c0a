/** A real daemon with its API open, and official clients of MCP to it: by a `kron mcp` of their own, or over HTTP with a key. */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { type CallToolResult, Client, StreamableHTTPClientTransport, type Tool } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, inject } from "vitest";
import { ControlClient } from "../../../src/krond/control/client.js";
import { socketPathIn } from "../../../src/krond/state/directory.js";
import type { NewKeyAnswer } from "../../../src/operations/keys/keys.js";
import type { OperationRequest } from "../../../src/operations/registry.js";
import type { Scope } from "../../../src/operations/scope.js";
import { killJobsOf, MARK, RunningKrond } from "../../support/krond.js";
import { FAST_PARENT } from "../../support/temporary.js";

/** Revisions of the protocol that a client may come with. */
export const ERAS = ["2025", "2026"] as const;
export type Era = (typeof ERAS)[number];

const ABOUT = { name: "kron-test", version: "1" };

export class McpDaemon {
  readonly root = fs.mkdtempSync(path.join(FAST_PARENT, "kron-mcp-"));
  readonly state = path.join(this.root, "state");
  readonly #jobs: string;
  readonly #args: readonly string[];
  readonly #clients: Client[] = [];
  #krond: RunningKrond | null = null;
  #control: ControlClient | null = null;
  address = "";

  constructor(jobs: string, args: readonly string[]) {
    this.#jobs = jobs;
    this.#args = args;
  }

  get krond(): RunningKrond {
    return there(this.#krond);
  }

  async start(programs = inject("programs")): Promise<void> {
    fs.chmodSync(this.root, 0o700);
    const config = path.join(this.root, "jobs.yaml");
    fs.writeFileSync(config, `defaults:\n  env: { ${MARK}: "${this.state}" }\njobs:\n${this.#jobs}`, { mode: 0o644 });
    const args = ["start", "--config", config, "--state", this.state, "--log-format", "json", "--api", "127.0.0.1:0"];
    const env = { ...process.env, KRON_CONFIG: "", KRON_STATE: "" };
    const stdio = ["ignore", "pipe", "pipe"] as const;
    this.#krond = new RunningKrond(
      spawn(process.execPath, [programs.krond, ...args, ...this.#args], { stdio: [...stdio], env }),
    );
    this.address = String((await this.#krond.ready())["api"]);
    this.#control = await ControlClient.connect(socketPathIn(this.state));
  }

  /** Over the control socket. */
  async ask<T>(request: OperationRequest, tenant?: string): Promise<T> {
    return (await there(this.#control).ask(request, undefined, tenant)) as T;
  }

  async key(tenant: string | null, scope: Scope, more: object = {}): Promise<NewKeyAnswer> {
    return this.ask({ op: "keys.create", tenant, scope, ...more } as OperationRequest);
  }

  /** Of a `kron mcp` of its own. */
  async overStdio(args: readonly string[], era: Era = "2025", programs = inject("programs")): Promise<Client> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [programs.kron, "mcp", "--state", this.state, ...args],
      stderr: "ignore",
    });
    return this.#connected(transport, era);
  }

  async overHttp(key: string, era: Era = "2025"): Promise<Client> {
    const headers = { Authorization: `Bearer ${key}` };
    const transport = new StreamableHTTPClientTransport(new URL(`http://${this.address}/mcp`), {
      requestInit: { headers },
    });
    return this.#connected(transport, era);
  }

  /** As it goes over the wire. */
  post(body: string, key: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(`http://${this.address}/mcp`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        Authorization: `Bearer ${key}`,
        ...headers,
      },
      body,
    });
  }

  async stop(): Promise<void> {
    for (const client of this.#clients.splice(0)) await client.close();
    this.#control?.close();
    await this.#krond?.kill("SIGTERM");
    this.#krond = null;
  }

  async remove(): Promise<void> {
    await this.stop();
    killJobsOf(this.state);
    fs.rmSync(this.root, { recursive: true, force: true });
  }

  async #connected(transport: StdioClientTransport | StreamableHTTPClientTransport, era: Era): Promise<Client> {
    const client = new Client(ABOUT, era === "2026" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {});
    await client.connect(transport);
    this.#clients.push(client);
    return client;
  }
}

/** Started before the first test of a file, and gone after the last. */
export function mcpDaemon(jobs: string, args: readonly string[] = ["--api-rate", "10000"]): McpDaemon {
  const daemon = new McpDaemon(jobs, args);
  beforeAll(() => daemon.start());
  afterAll(() => daemon.remove());
  return daemon;
}

export function call(client: Client, name: string, fields: object = {}): Promise<CallToolResult> {
  return client.callTool({ name, arguments: { ...fields } }) as Promise<CallToolResult>;
}

/** What a model reads of it. */
export function textOf({ content }: Pick<CallToolResult, "content">, index = 0): string {
  const block = content[index];
  if (block?.type !== "text") throw new Error("no text");
  return block.text;
}

export interface Refused {
  readonly code: string;
  readonly detail: string;
  readonly hint?: string;
  readonly errors?: readonly { readonly pointer: string; readonly code: string; readonly message: string }[];
  readonly retryAfterSeconds?: number;
}

/** null: it was carried out. */
export function refusalIn(result: CallToolResult): Refused | null {
  return result.isError === true ? (JSON.parse(textOf(result)) as Refused) : null;
}

export async function namesOfTools(client: Client): Promise<readonly string[]> {
  return (await toolsOf(client)).map(({ name }) => name);
}

export async function toolsOf(client: Client): Promise<readonly Tool[]> {
  return (await client.listTools()).tools;
}

function there<T>(value: T | null): T {
  if (value === null) throw new Error("it does not run");
  return value;
}
