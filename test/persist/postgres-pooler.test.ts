/** C19: through PgBouncer in transaction mode, where each statement may meet another server process, and none keeps anything. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { acquirePostgres, openPostgresStore } from "../../src/persist/postgres/open.js";
import type { PostgresPlace } from "../../src/persist/postgres/place.js";
import { adminOf, balanced, clusters, heldOf } from "../support/members.js";
import { placeAt, postgresServer, ROLE } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";
import { describeStoreContract } from "./store-contract.js";

const PROGRAM = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((file) => fs.existsSync(file));
const server = postgresServer();
const newDirectory = temporaryDirectories();
const newNodes = clusters(newDirectory);
let pooler: ChildProcess | null = null;
let directory = "";

beforeAll(async () => {
  if (PROGRAM === undefined) return;
  directory = path.join(server().root, "pooler");
  fs.mkdirSync(directory, { mode: 0o777 });
  fs.chmodSync(directory, 0o777);
  const file = path.join(directory, "pgbouncer.ini");
  const users = path.join(directory, "users.txt");
  fs.writeFileSync(users, `"${ROLE}" ""\n`);
  const settings = [
    "[databases]",
    `* = host=${server().root}`,
    "[pgbouncer]",
    "pool_mode = transaction",
    "auth_type = trust",
    `auth_file = ${users}`,
    "listen_addr =",
    "listen_port = 5432",
    `unix_socket_dir = ${directory}`,
    "default_pool_size = 3",
    "server_reset_query_always = 0",
    // What one client leaves behind the next one finds, sooner.
    "server_round_robin = 1",
  ];
  fs.writeFileSync(file, `${settings.join("\n")}\n`);
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: string): number => Number(spawnSync("id", [flag, "nobody"], { encoding: "utf8" }).stdout);
  const user = isRoot ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  pooler = spawn(PROGRAM, ["-q", file], { stdio: "ignore", ...user });
  while (!fs.existsSync(path.join(directory, ".s.PGSQL.5432"))) {
    if (pooler.exitCode !== null) throw new Error(`pgbouncer ended with ${pooler.exitCode}`);
    await sleep(10);
  }
});

afterAll(async () => {
  if (pooler === null) return;
  const ended = once(pooler, "exit");
  pooler.kill("SIGKILL");
  await ended;
});

async function newPlace(): Promise<PostgresPlace> {
  const database = await server().newDatabase();
  return placeAt(`postgres:///${database}?host=${directory}&user=${ROLE}`, newDirectory());
}

describe.skipIf(PROGRAM === undefined)(`PgBouncer${PROGRAM === undefined ? " (not installed here)" : ""}`, () => {
  describeStoreContract("postgres through PgBouncer", 2_000, () => {
    let made: Promise<PostgresPlace> | null = null;
    const place = (): Promise<PostgresPlace> => {
      made ??= newPlace();
      return made;
    };
    return {
      acquire: async () => acquirePostgres(await place()),
      open: async (term) => openPostgresStore(await place(), term),
    };
  });

  test("hands one daemon's statements to several server processes, and leaves nothing in them", async () => {
    const place = await newPlace();
    const term = await acquirePostgres(place);
    if (!term.ok) throw term.error;
    const store = await openPostgresStore(place, term.value);
    if (!store.ok) throw store.error;
    await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        await store.value.commit(term.value, { ledger: [{ identity: "job", at, kind: "run", text: "" }] });
        await store.value.ledgerLatest("job", 1);
      }),
    );
    const [left] = await server().admin(
      `select count(*) filter (where backend_type = 'client backend')::int > 1 as several,
        (select count(*)::int from pg_locks where locktype = 'advisory') as locks
       from pg_stat_activity where datname = '${place.address.database}'`,
    );
    expect([left, (await store.value.counts()).ledger]).toEqual([{ several: true, locks: 0 }, 200]);
    await store.value.close();
    await term.value.release();
  });

  test("lets several nodes share a store: shards, letters, sets of jobs, and the end of a session", async () => {
    const { address } = await newPlace();
    const nodes = newNodes(address.text);
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    for (const one of [a, b, a, b]) await balanced(one);
    const admin = adminOf(address.text, newDirectory());
    const jobs = Array.from({ length: 2_500 }, (_, index) => ({ identity: `job/${index}`, pool: "any", text: "{}" }));
    const [first, second] = await Promise.all([
      admin.apply({ jobs, settings: "{}" }),
      admin.apply({ jobs: jobs.slice(1), settings: "{}" }),
    ]);
    expect([first, second].map((one) => (one.ok ? one.value?.revision : 0)).toSorted()).toEqual([1, 2]);
    const id = await a.member.send(b.member.session, '"hello"');
    const { letters, revision } = await b.member.pulse(true);
    expect([letters.map((letter) => letter.id), revision]).toEqual([[id], 2]);
    await b.member.answer(id, '"yes"');
    expect(await a.member.answerOf(id)).toBe('"yes"');
    await a.member.storeOf({ pool: "any", number: 0 }).commit(a.term, { alive: { bootedAt: 1, at: 2 } });
    await nodes.leave(b);
    expect(heldOf(await a.member.pulse(true)).length).toBe(64);
    const left = "select count(*)::int as locks from pg_locks where locktype = 'advisory'";
    expect(await server().admin(left)).toEqual([{ locks: 0 }]);
  });
});
