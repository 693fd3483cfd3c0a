/**
 * K6: a primary that is lost while its standby lacks what was confirmed last, under two nodes that live. What was lost is counted
 * as handled and told, nothing of it is run again, and everything goes on by itself (C12). A standby that is waited for lacks nothing.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { type EpochMs, knownInstant } from "../../src/core/time/instant.js";
import { readWhy } from "../../src/operations/records/why.js";
import { storePlace } from "../../src/persist/backends.js";
import { builtPrograms, krondProcesses, type RunningKrond } from "../support/krond.js";
import { Members, SHORT_LEASE_MS } from "../support/member-daemons.js";
import { PostgresServer, ROLE } from "../support/postgres.js";
import { type FaultyProxy, proxies } from "../support/postgres-proxy.js";
import { requireOk } from "../support/results.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const start = krondProcesses(programs);
const temporary = temporaryDirectories();
const proxyTo = proxies(temporary);

/** One is due each half second: every minute each of them, at a second of its own. */
const JOBS = 120;
const EVERY = 30;
const NODES = ["one", "two"] as const;
/** Claims that the standby is to lack, and runs that are to come afterwards. */
const LOST = 8;
const AFTERWARDS = 20;

const TOLD = "told";
/** Two daemons live three lives each, beside whatever else a machine has to do. */
const BOUND = { timeout: 900_000 };

const servers: PostgresServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    await server.stop("SIGQUIT");
    fs.rmSync(server.root, { recursive: true, force: true });
  }
});

async function serverOf(options: ConstructorParameters<typeof PostgresServer>[0]): Promise<PostgresServer> {
  const server = new PostgresServer(options);
  servers.push(server);
  server.initialise();
  return server;
}

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly database: string;
  /** Between them. */
  readonly stream: FaultyProxy;
}

/** The standby begins as the copy of a primary that is not running: there is no other way with what these servers come with. */
async function pair(): Promise<Pair> {
  const primary = await serverOf({ access: ["local replication all trust"] });
  await primary.start();
  await primary.makeRoles();
  const database = await primary.newDatabase();
  await primary.stop();
  const stream = await proxyTo(primary.root);
  // The server is another user's.
  for (const name of [".", ".s.PGSQL.5432"]) fs.chmodSync(path.join(stream.directory, name), 0o777);
  const conninfo = `primary_conninfo=host=${stream.directory} user=postgres application_name=standby`;
  const standby = await serverOf({ copyOf: primary, settings: [conninfo, "wal_retrieve_retry_interval=100ms"] });
  standby.makeReplica();
  await Promise.all([primary.start(), standby.start()]);
  await until(
    async () => (await primary.admin("select from pg_stat_replication where state = 'streaming'")).length > 0,
  );
  return { primary, standby, database, stream };
}

/** What both know is what was lost to nobody: definitions and documents of all jobs, and the first runs of some. */
async function caughtUp({ primary, standby }: Pair): Promise<void> {
  const [now] = await primary.admin("select pg_current_wal_lsn() as at");
  const isThere = `select pg_last_wal_replay_lsn() >= '${now?.["at"]}' as is`;
  await until(async () => (await standby.admin(isThere))[0]?.["is"] === true);
}

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await sleep(50);
}

/** Two nodes at whatever server the proxy leads to. A service manager starts again what has ended. */
class Pool {
  readonly members: Members;
  readonly address: string;
  readonly lives: RunningKrond[] = [];
  #isOver = false;
  readonly #living: Promise<void>[];

  constructor({ database }: Pair, proxy: FaultyProxy) {
    this.address = `postgres:///${database}?host=${proxy.directory}&user=${ROLE}`;
    this.members = new Members(temporary(), this.address, programs, start, SHORT_LEASE_MS);
    this.#living = NODES.map((name) => this.#live(name));
  }

  async #live(name: string): Promise<void> {
    while (!this.#isOver) {
      const { daemon } = this.members.start(name);
      this.lives.push(daemon);
      await daemon.ended;
      await sleep(200);
    }
  }

  async bothHold(): Promise<void> {
    await until(async () => {
      const nodes = await this.members.admin.nodes().catch(() => null);
      return nodes?.ok === true && nodes.value.filter(({ shards }) => shards.length > 0).length === NODES.length;
    });
  }

  /** Resolves when every job is on record. */
  async want(): Promise<void> {
    const say = 'echo "$KRON_IDENTITY $KRON_PERIOD_ID $KRON_ATTEMPT_ID" >> "$WITNESS"';
    const more = { output: { to: "discard" }, policy: { deadline: "55s", concurrency: "allow" } };
    const timed = Array.from({ length: JOBS }, (_, index) =>
      this.members.job(`minutely-${index}`, "* * * * *", say, { ...more, window: { mode: "after", duration: "59s" } }),
    );
    const paced = Array.from({ length: EVERY }, (_, index) =>
      this.members.job(`paced-${index}`, `@every ${7 + (index % 5)}s`, say, { output: { to: "discard" } }),
    );
    const { revision } = await this.members.want([...timed, ...paced]);
    await until(async () => requireOk(await this.members.admin.shardsBehind(revision)).length === 0);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const { child } of this.lives) child.kill("SIGTERM");
    await Promise.all(this.#living);
  }
}

/** Runs that have said so and are not on record: identity and period of each. */
async function forgotten(
  { standby, database }: Pair,
  seen: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const rows = await standby.admin("select text from kron.ledger where kind ~ '^run'", database);
  const known = new Set(rows.map(({ text }) => (JSON.parse(String(text)) as { attempt_id: string }).attempt_id));
  return seen.map((line) => line.split(" ")).filter(([, , attempt = ""]) => !known.has(attempt));
}

function twice(seen: readonly string[]): readonly string[] {
  const occasions = seen.map((line) => line.split(" ").slice(0, 2).join(" "));
  return occasions.filter((one, index) => occasions.indexOf(one) !== index);
}

async function reasonsOf(address: string, lost: readonly (readonly string[])[], now: EpochMs) {
  const { at, backend } = requireOk(storePlace(address, temporary()));
  const reader = requireOk(await backend.openReader(at));
  try {
    const texts: string[] = [];
    for (const [identity = "", period = ""] of lost.filter(([name]) => name?.startsWith("minutely"))) {
      const asked = { identity, periodAt: knownInstant(period), now, ledger: SETTINGS_DEFAULTS.ledger, isAlive: true };
      const answer = await readWhy(reader, asked);
      const isTold = /another database server had taken over/.test(answer?.text ?? "");
      texts.push(isTold ? TOLD : `${identity} ${period}: ${answer?.kind} ${answer?.text}`);
    }
    return texts;
  } finally {
    await reader.close();
  }
}

/** The primary dies, the standby takes over, and whoever connects comes to that. */
async function failOver({ primary, standby }: Pair, proxy: FaultyProxy): Promise<void> {
  await primary.stop("SIGQUIT");
  proxy.lead(null);
  await standby.promote();
  proxy.lead(standby.root);
}

test(
  "K6: what an asynchronous standby lacks is counted as handled: nothing is run twice, all of it is told, and it goes on",
  BOUND,
  async () => {
    const both = await pair();
    const proxy = await proxyTo(both.primary.root);
    const pool = new Pool(both, proxy);
    const { members } = pool;
    await pool.bothHold();
    await pool.want();
    await until(() => members.seen.length > LOST);
    await caughtUp(both);
    both.stream.lead(null);
    const cutAt = members.seen.length;
    await until(() => members.seen.length >= cutAt + LOST);
    await failOver(both, proxy);
    await pool.bothHold();
    const before = members.seen.length;
    await until(() => members.seen.length >= before + AFTERWARDS);
    await pool.end();
    const lost = await forgotten(both, members.seen);
    const lines = pool.lives.flatMap(({ lines: all }) => all);
    const fences = lines.filter(({ event }) => event === "failover_fenced");
    const fenced = fences.reduce((sum, { fenced: count }) => sum + Number(count), 0);
    console.log(`K6: ${members.seen.length} runs, ${lost.length} of them lost with the primary, ${fenced} jobs fenced`);
    expect(lost.length).toBeGreaterThanOrEqual(LOST);
    expect(twice(members.seen)).toEqual([]);
    const reasons = await reasonsOf(pool.address, lost, Date.now());
    expect(reasons.filter((reason) => reason !== TOLD)).toEqual([]);
    expect(lines.filter(({ event }) => event === "claim_refused")).toEqual([]);
  },
);

test("K6: a synchronous standby has everything: nothing is lost, and nothing is run twice", BOUND, async () => {
  const both = await pair();
  await both.primary.admin("alter system set synchronous_standby_names = 'standby'");
  await both.primary.admin("select pg_reload_conf()");
  const proxy = await proxyTo(both.primary.root);
  const pool = new Pool(both, proxy);
  await pool.bothHold();
  await pool.want();
  await until(() => pool.members.seen.length > LOST);
  await failOver(both, proxy);
  await pool.bothHold();
  const before = pool.members.seen.length;
  await until(() => pool.members.seen.length >= before + AFTERWARDS);
  await pool.end();
  expect(await forgotten(both, pool.members.seen)).toEqual([]);
  expect(twice(pool.members.seen)).toEqual([]);
});
