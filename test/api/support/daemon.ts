/** A real daemon with its API open, for all tests of a file: its keys are made over the control socket, as people make them. */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, inject } from "vitest";
import { ControlClient } from "../../../src/krond/control/client.js";
import { socketPathIn } from "../../../src/krond/state/directory.js";
import type { NewKeyAnswer } from "../../../src/operations/keys/keys.js";
import type { OperationRequest } from "../../../src/operations/registry.js";
import { killJobsOf, MARK, RunningKrond } from "../../support/krond.js";
import { FAST_PARENT } from "../../support/temporary.js";
import { type ApiClient, apiClient, type ClientPlace, type Send } from "./client.js";

export interface DaemonWish {
  /** Jobs of the configuration, and whatever else stands in it. */
  readonly jobs?: string;
  /** Of krond start, beside the API. `ROOT` stands for the directory of the test. */
  readonly args?: readonly string[];
  /** Where the API is; absent: a port that the system picks. */
  readonly api?: string;
  /** Written before the start, below the directory of the test. */
  readonly files?: Readonly<Record<string, string>>;
  /** How its clients reach it. */
  place?(address: string, root: string): ClientPlace;
}

/** More than any test asks for. */
const NO_PACE = ["--api-rate", "10000"];

export class ApiDaemon {
  #krond: RunningKrond | null = null;
  #client: ApiClient | null = null;
  #control: ControlClient | null = null;
  readonly root = fs.mkdtempSync(path.join(FAST_PARENT, "kron-api-"));
  readonly state = path.join(this.root, "state");
  address = "";
  readonly #wish: DaemonWish;

  constructor(wish: DaemonWish) {
    this.#wish = wish;
  }

  get krond(): RunningKrond {
    return there(this.#krond);
  }

  get client(): ApiClient {
    return there(this.#client);
  }

  readonly send: Send = (method, url, wish) => this.client.send(method, url, wish);

  async start(programs = inject("programs")): Promise<void> {
    const { jobs = "  []\n", api = "127.0.0.1:0", args = NO_PACE, files = {} } = this.#wish;
    fs.chmodSync(this.root, 0o700);
    for (const [name, text] of Object.entries(files))
      fs.writeFileSync(path.join(this.root, name), text, { mode: 0o600 });
    const config = path.join(this.root, "jobs.yaml");
    fs.writeFileSync(config, `defaults:\n  env: { ${MARK}: "${this.state}" }\njobs:\n${jobs}`, { mode: 0o644 });
    const own = ["--config", config, "--state", this.state, "--log-format", "json"];
    const rest = ["--api", api, ...args].map((arg) => arg.replaceAll("ROOT", this.root));
    const env = { ...process.env, KRON_CONFIG: "", KRON_STATE: "" };
    const child = spawn(process.execPath, [programs.krond, "start", ...own, ...rest], {
      stdio: ["ignore", "pipe", "pipe"],
      env,
    });
    this.#krond = new RunningKrond(child);
    this.address = String((await this.#krond.ready())["api"]);
    this.#client = apiClient(this.#wish.place?.(this.address, this.root) ?? placeOf(this.address));
    this.#control = await ControlClient.connect(socketPathIn(this.state));
  }

  /** Over the control socket. */
  async ask<T>(request: OperationRequest, tenant?: string): Promise<T> {
    return (await there(this.#control).ask(request, undefined, tenant)) as T;
  }

  key(tenant: string | null, scope: "read" | "write" | "admin", more: object = {}): Promise<NewKeyAnswer> {
    return this.ask({ op: "keys.create", tenant, scope, ...more } as OperationRequest);
  }

  /** As the machine does it when it must. */
  async crash(): Promise<void> {
    this.#control?.close();
    this.#client?.close();
    await this.#krond?.kill("SIGKILL");
  }

  async remove(): Promise<void> {
    await this.crash();
    killJobsOf(this.state);
    fs.rmSync(this.root, { recursive: true, force: true });
  }
}

/** Started before the first test of a file, and gone after the last. */
export function apiDaemon(wish: DaemonWish = {}): ApiDaemon {
  const daemon = new ApiDaemon(wish);
  beforeAll(() => daemon.start());
  afterAll(() => daemon.remove());
  return daemon;
}

export function placeOf(address: string): ClientPlace {
  const [host = "", port = ""] = address.split(":");
  return { host, port: Number(port) };
}

function there<T>(value: T | null): T {
  if (value === null) throw new Error("it does not run");
  return value;
}
