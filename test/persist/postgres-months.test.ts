/** The tables of the months while somebody reads all of the ledger, as a backup does: nobody's commits wait for that. */
import pg from "pg";
import { expect, test } from "vitest";
import { clusters } from "../support/members.js";
import { postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const server = postgresServer();
const newNodes = clusters(temporaryDirectories());

/** Until it is over, the ledger is read as `pg_dump` reads it. */
async function reading(database: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ host: server().root, user: "postgres", database });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("begin");
  await client.query("lock table kron.ledger, kron.ledger_others in access share mode");
  return () => client.end();
}

const record = (at: number, identity = "job") => ({ ledger: [{ identity, at, kind: "run", text: "" }] });
const [MARCH, APRIL, JUNE] = [2, 3, 5].map((month) => Date.UTC(2026, month, 5)) as [number, number, number];

async function monthsOf(database: string): Promise<unknown> {
  const text =
    "select string_agg(relname, ' ' order by relname) as names from pg_class where relname ~ '^ledger_[0-9]+_[0-9]+$'";
  const [row] = await server().admin(text, database);
  return row?.["names"];
}

test("each is there before its month begins", async () => {
  const database = await server().newDatabase();
  const a = await newNodes(server().address(database)).join("a");
  await a.store.commit(a.term, record(MARCH));
  expect(await monthsOf(database)).toBe("ledger_2026_03 ledger_2026_04");
});

test("what has no table of its own is kept all the same, and what is too old stays until it can go", async () => {
  const database = await server().newDatabase();
  const nodes = newNodes(server().address(database));
  const [a, b] = [await nodes.join("a"), await nodes.join("b")];
  await a.store.commit(a.term, record(MARCH));
  const over = await reading(database);
  await Promise.all([a.store.commit(a.term, record(JUNE)), b.store.commit(b.term, record(APRIL, "other"))]);
  expect((await a.store.ledgerLatest("job", 5)).map(({ at }) => at)).toEqual([JUNE, MARCH]);
  expect(await a.store.dropLedger(a.term, APRIL, () => ({}))).toBe(0);
  await over();
  expect(await a.store.dropLedger(a.term, APRIL, () => ({}))).toBe(1);
  expect((await a.store.ledgerLatest("job", 5)).map(({ at }) => at)).toEqual([JUNE]);
});
