/** A database as the first version of its schema was: whatever comes later brings it up to date and goes on. */
import { describe, expect, test } from "vitest";
import { documentKey } from "../../src/persist/keys.js";
import { Connection } from "../../src/persist/postgres/connection.js";
import { MIGRATIONS } from "../../src/persist/postgres/schema.js";
import { migrate } from "../../src/persist/postgres/server.js";
import { clusters, type Nodes, placeOf } from "../support/members.js";
import { placeAt, postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const server = postgresServer();
const newDirectory = temporaryDirectories();
const newNodes = clusters(newDirectory);
const FIRST = MIGRATIONS.slice(0, 1);
const KEY = documentKey("job/1");
const STORE = "0b7c6a52-5b0e-4f0e-9a64-0f3b8f1f6f10";

interface Old {
  readonly address: string;
  readonly database: string;
  readonly nodes: Nodes;
}

/** With what a daemon of that version has written; `leftMs`: what is left of its lease. */
async function oldStore(leftMs: number): Promise<Old> {
  const database = await server().newDatabase();
  const address = server().address(database);
  const connection = new Connection(placeAt(address, newDirectory()), 10_000);
  must(await migrate(connection, FIRST));
  const session = "11111111-1111-4111-8111-111111111111";
  for (const text of [
    `insert into kron.cluster (store_id, format, generation, system_id, timeline)
      select '${STORE}', 1, 3, system_identifier::text, kron.timeline() from pg_control_system()`,
    `select * from kron.begin_session('${session}', 'old-host', 'boot/1:2', 4711, '0.2.0', '2025a', ${leftMs})`,
    `insert into kron.document (key, tail, text) values ('${KEY.slice(0, 32)}', '${KEY.slice(32, 64)}', '{}')`,
    `insert into kron.tenure (pool, number, from_at, until_at, session) values ('any', 0, 10, 20, '${session}')`,
  ]) {
    await connection.rows(text);
  }
  await connection.close();
  return { address, database, nodes: newNodes(address) };
}

const version = async (database: string): Promise<unknown> =>
  (await server().admin("select max(version) as version from kron.migration", database))[0]?.["version"];

describe("a store of the first version of the schema", () => {
  test("is opened by a daemon alone, which finds all that was there", async () => {
    const { address, database } = await oldStore(0);
    const directory = newDirectory();
    const { backend, at } = placeOf(address, directory);
    const term = must(await backend.acquire(at));
    const store = must(await backend.open(term));
    expect([store.storeId, (await store.get("job/1"))?.text]).toEqual([STORE, "{}"]);
    const before = { bootedAt: 10, at: 20 };
    expect(await store.aliveSpans("job/1", 0, 99)).toEqual([before]);
    await store.commit(term, { alive: { bootedAt: 30, at: 40 } });
    expect(await store.aliveSpans(null, 0, 99)).toEqual([before, { bootedAt: 30, at: 40 }]);
    expect(await version(database)).toBe(MIGRATIONS.length);
    await store.close();
    await term.release();
  });

  test("is shared by nodes, the first of which brings it up to date", async () => {
    const { database, nodes } = await oldStore(0);
    const [a, b] = await Promise.all(["a", "b"].map((node) => nodes.join(node, { leaseMs: 8_000 })));
    if (a === undefined || b === undefined) throw new Error("nobody there");
    const held = (await a.member.pulse(true)).held.length + (await b.member.pulse(true)).held.length;
    expect(held).toBe(66);
    const { number, pool } = await a.member.shardOf("job/1");
    const holder = (await a.member.holderOf({ pool, number }))?.node === "a" ? a : b;
    const store = holder.member.storeOf({ pool, number });
    expect([(await store.get("job/1"))?.text, await store.counts()]).toEqual([
      "{}",
      { documents: 1, ledger: 0, definitions: 0 },
    ]);
    expect(await store.aliveSpans("job/1", 0, 99)).toEqual([{ bootedAt: 10, at: 20 }]);
    expect(await version(database)).toBe(MIGRATIONS.length);
  });

  test("is left alone while its daemon lives, by nodes too", async () => {
    const { database, nodes } = await oldStore(60_000);
    const renew = "update kron.session set expires_at = expires_at + interval '1 second'";
    const renewing = setInterval(
      () =>
        void server()
          .admin(renew, database)
          .catch(() => undefined),
      50,
    );
    try {
      for (const node of ["a", undefined]) {
        const refused = await nodes.refusal(node, { leaseMs: 8_000 });
        expect([refused?.code, refused?.message]).toEqual([
          "lock-held",
          expect.stringMatching(/process 4711 on old-host/),
        ]);
      }
      expect(await version(database)).toBe(1);
    } finally {
      clearInterval(renewing);
    }
  });
});
