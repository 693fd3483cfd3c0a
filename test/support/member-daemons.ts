/** Several daemons on one database, as an operator starts them, and the set of jobs that they share. */
import * as fs from "node:fs";
import * as path from "node:path";
import { SETTINGS_DEFAULTS, type Settings } from "../../src/core/config/settings.js";
import { canonicalDefinitionText, readJobDefinition } from "../../src/core/job/schema.js";
import { storePlace } from "../../src/persist/backends.js";
import { ANY_POOL, type Applied, type ClusterAdmin } from "../../src/persist/cluster.js";
import type { Programs } from "./built-programs.js";
import { type CommandResult, MARK, type RunningKrond, runProgram, type StartKrond } from "./krond.js";
import { requireOk } from "./results.js";

/** As short as they may be: where what happens at their ends is what is tried, and whoever loses one is started again. */
export const SHORT_LEASE_MS = 5_000;
/** Longer than any machine stands still: nobody loses what it has but by what is done to it. */
const LONG_LEASE_MS = 60_000;
/** Of a node that is to die: no longer than one likes to wait, and long enough to live until then. */
export const MORTAL = ["--store-lease", "15s"] as const;

export interface Member {
  readonly name: string;
  readonly state: string;
  readonly daemon: RunningKrond;
  kron(...args: string[]): CommandResult;
}

export class Members {
  readonly #root: string;
  readonly #address: string;
  readonly #programs: () => Programs;
  readonly #start: StartKrond;
  readonly #leaseMs: number;
  readonly admin: ClusterAdmin;

  constructor(
    root: string,
    address: string,
    programs: () => Programs,
    start: StartKrond,
    leaseMs: number = LONG_LEASE_MS,
  ) {
    this.#root = root;
    this.#address = address;
    this.#programs = programs;
    this.#start = start;
    this.#leaseMs = leaseMs;
    const { backend } = requireOk(storePlace(address, path.join(root, "admin")));
    if (backend.cluster === null) throw new Error("no store of several nodes");
    this.admin = backend.cluster;
  }

  stateOf(name: string): string {
    return path.join(this.#root, name);
  }

  /** What runs leave behind, a line each. */
  get witness(): string {
    return path.join(this.#root, "witness");
  }

  get seen(): readonly string[] {
    return fs.existsSync(this.witness) ? fs.readFileSync(this.witness, "utf8").trim().split("\n") : [];
  }

  start(name: string, ...more: string[]): Member {
    const state = this.stateOf(name);
    fs.mkdirSync(state, { recursive: true, mode: 0o700 });
    const lease = more.includes("--store-lease") ? [] : ["--store-lease", `${this.#leaseMs}ms`];
    const args = ["--store", this.#address, ...lease, "--node", name, ...more];
    const daemon = this.#start(null, state, args);
    return { name, state, daemon, kron: (...asked) => runProgram(this.#programs().kron, [...asked, "--state", state]) };
  }

  async started(name: string, ...more: string[]): Promise<Member> {
    const member = this.start(name, ...more);
    await member.daemon.ready();
    return member;
  }

  /** `command`: what each of them runs; it can tell the places of the test from all others by its environment. */
  job(identity: string, schedule: string, command: string, more: Record<string, unknown> = {}) {
    const env = { [MARK]: this.stateOf("one"), WITNESS: this.witness };
    const raw = { identity, schedule, shell: true, command, env, ...more };
    return requireOk(readJobDefinition(raw));
  }

  async want(
    jobs: readonly ReturnType<Members["job"]>[],
    settings: Partial<Settings> = {},
    poolOf: (identity: string) => string = () => ANY_POOL,
  ): Promise<Applied> {
    const wanted = jobs.map((definition) => {
      const { identity } = definition;
      return { identity, pool: poolOf(identity), text: canonicalDefinitionText(definition) };
    });
    const set = { jobs: wanted, settings: JSON.stringify({ ...SETTINGS_DEFAULTS, ...settings }) };
    const applied = requireOk(await this.admin.apply(set));
    if (applied === null) throw new Error("it was to be applied over whatever is there");
    return applied;
  }

  /** How many shards each node has. */
  async shares(): Promise<Readonly<Record<string, number>>> {
    const nodes = requireOk(await this.admin.nodes());
    return Object.fromEntries(nodes.map(({ node, shards }) => [node, shards.length]));
  }
}
