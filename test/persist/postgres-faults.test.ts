/** C9: whatever happens to a connection or to the server, what was confirmed is there, once, and what was not is asked for again. */
import { afterEach, describe, expect, test } from "vitest";
import { documentKey } from "../../src/persist/keys.js";
import type { LockTerm } from "../../src/persist/lock.js";
import { acquirePostgres, openPostgresStore } from "../../src/persist/postgres/open.js";
import type { Batch, StateStore } from "../../src/persist/store.js";
import { placeAt, postgresServer, ROLE } from "../support/postgres.js";
import { type Fault, type FaultyProxy, proxies } from "../support/postgres-proxy.js";
import { temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const server = postgresServer({ isDurable: true });
const newDirectory = temporaryDirectories();
const newProxy = proxies(newDirectory);
const COMMITS = 400;
const AT = Date.UTC(2026, 2, 1);

interface Opened {
  readonly store: StateStore;
  readonly term: LockTerm;
  readonly database: string;
  readonly proxy: FaultyProxy;
}

const open: Opened[] = [];
afterEach(async () => {
  for (const { store, term } of open.splice(0)) {
    await store.close();
    await term.release();
  }
});

async function opened(leaseMs = 60_000): Promise<Opened> {
  const database = await server().newDatabase();
  const proxy = await newProxy(server().root);
  const place = placeAt(`postgres:///${database}?host=${proxy.directory}&user=${ROLE}`, newDirectory(), { leaseMs });
  const term = must(await acquirePostgres(place));
  const one = { store: must(await openPostgresStore(place, term)), term, database, proxy };
  open.push(one);
  // The schema names what commits, and came this way too.
  proxy.commits = 0;
  return one;
}

test("a server that takes longer for each answer than a heartbeat may is waited for by a start", async () => {
  const database = await server().newDatabase();
  const proxy = await newProxy(server().root);
  const address = `postgres:///${database}?host=${proxy.directory}&user=${ROLE}`;
  const place = placeAt(address, newDirectory(), { leaseMs: 4_000 });
  proxy.delayMs = 1_100;
  const term = await acquirePostgres(place);
  proxy.delayMs = 0;
  if (term.ok) await term.value.release();
  expect(term).toMatchObject({ ok: true });
});

/** A claim, and the document that counts them. */
function claiming(number: number): Batch {
  const key = { identity: `job/${number % 7}`, at: AT + number, kind: "run" };
  return {
    documents: [{ key: documentKey(key.identity), text: String(number) }],
    ledger: [{ ...key, text: `run ${number}` }],
    claims: [{ key, token: `attempt ${number}` }],
  };
}

/** Commits one after the other; each is granted, however often it was sent. */
async function claimAll({ store, term }: Opened, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    expect([number, await store.commit(term, claiming(number))]).toEqual([number, []]);
  }
}

async function expectAll({ store, database }: Opened, count: number): Promise<void> {
  const identities = [...new Set(Array.from({ length: count }, (_, index) => `job/${(index + 1) % 7}`))];
  const found = await Promise.all(identities.map((it) => store.ledgerLatest(it, count)));
  expect(found.flat().length).toBe(count);
  for (const [index, identity] of identities.entries()) {
    const newest = Math.max(...(found[index] ?? []).map((it) => it.at - AT));
    expect((await store.get(identity))?.text).toBe(String(newest));
  }
  const [row] = await server().admin(
    "select count(*)::int as count, max(number)::int as last from kron.commit",
    database,
  );
  // What was in doubt is followed by one that confirms it.
  expect(row?.["count"]).toBe(row?.["last"]);
  expect(row?.["count"]).toBeGreaterThanOrEqual(count);
}

describe("a connection that breaks", () => {
  const faults: readonly Fault[] = ["before", "within", "unheard", "after"];
  test.each(faults)("%s the commit: it is applied once, and granted", async (fault) => {
    const it = await opened();
    it.proxy.faultOf = (commit) => (commit % 3 === 1 ? fault : null);
    await claimAll(it, 20);
    expect(it.proxy.commits).toBeGreaterThan(20);
    await expectAll(it, 20);
  });

  test("again and again, in every way: nothing is lost, and nothing there twice", async () => {
    const it = await opened();
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    it.proxy.faultOf = () => (random() < 0.3 ? (faults[Math.floor(random() * faults.length)] ?? null) : null);
    await claimAll(it, COMMITS);
    it.proxy.faultOf = () => null;
    await expectAll(it, COMMITS);
  });

  test("and delivers a commit when later ones are there: it changes nothing any more", async () => {
    const it = await opened();
    it.proxy.faultOf = (commit) => (commit === 1 ? "late" : null);
    await claimAll(it, 15);
    await it.proxy.deliver();
    await expectAll(it, 15);
  });

  test("C10: a commit that is found applied is granted when another one behind it is confirmed", async () => {
    const it = await opened();
    await claimAll(it, 1);
    expect(it.proxy.commits).toBe(1);
    // Its answer is lost, and so is that of the first one behind it: sent twice each, and then one that is heard of.
    it.proxy.faultOf = (commit) => (commit === 2 || commit === 4 ? "after" : null);
    expect(await it.store.commit(it.term, claiming(2))).toEqual([]);
    expect(it.proxy.commits).toBe(6);
    await expectAll(it, 2);
  });

  test("C10: and so is one that the server warns of", async () => {
    const it = await opened();
    await server().admin(
      `create function public.warn() returns trigger language plpgsql as $$
        begin raise warning 'not replicated'; return null; end $$;
      create trigger warn after insert on kron.commit for each row when (new.number = 1) execute function public.warn()`,
      it.database,
    );
    await claimAll(it, 2);
    expect(it.proxy.commits).toBe(3);
  });

  test("under a refused claim: the answer is the same", async () => {
    const it = await opened();
    await claimAll(it, 1);
    it.proxy.faultOf = (commit) => (commit % 3 === 0 ? "after" : null);
    const [refused, granted] = await Promise.all([
      it.store.commit(it.term, claiming(1)),
      it.store.commit(it.term, claiming(2)),
    ]);
    expect([refused, granted]).toEqual([claiming(1).claims, []]);
  });

  test("while something is read: it is read again", async () => {
    const it = await opened();
    await claimAll(it, 3);
    for (let round = 0; round < 10; round += 1) {
      const reading = it.store.ledgerLatest("job/1", 9);
      it.proxy.reset();
      expect((await reading).map(({ text }) => text)).toEqual(["run 1"]);
    }
  });
});

describe("a server", () => {
  test("that stops as if the power had gone, and comes back: the daemon goes on where it was", async () => {
    const it = await opened();
    for (let round = 0; round < 3; round += 1) {
      const from = round * 50;
      let done = 0;
      const writing = (async () => {
        for (let number = from + 1; number <= from + 50; number += 1) {
          expect(await it.store.commit(it.term, claiming(number))).toEqual([]);
          done += 1;
        }
      })();
      while (done < 10) await new Promise((resolve) => setImmediate(resolve));
      await server().stop("SIGQUIT");
      await server().start();
      await writing;
    }
    const [row] = await server().admin("select count(*)::int as count from kron.ledger", it.database);
    expect([row, it.term.isReleased]).toEqual([{ count: 150 }, false]);
  });

  test("that is slow makes commits slow, and ends no lease", async () => {
    const it = await opened(8_000);
    it.proxy.delayMs = 300;
    await claimAll(it, 10);
    it.proxy.delayMs = 0;
    await expectAll(it, 10);
    expect(await Promise.race([it.term.lost, Promise.resolve("held")])).toBe("held");
  });

  test("that is away for longer than the lease: the term is lost, and nothing is written any more", async () => {
    const it = await opened(2_000);
    await it.proxy.close();
    const lost = await it.term.lost;
    const why = expect.stringMatching(/could not be kept up: the server at .* does not answer \(connect ENOENT/);
    const toDo = expect.stringMatching(/^see that the server runs .*; the next start goes on/);
    expect([lost.code, lost.message, lost.hint]).toEqual(["lease-lost", why, toDo]);
    await expect(it.store.commit(it.term, claiming(1))).rejects.toMatchObject({ code: "state-write-failed" });
  });
});

/** Resolves when heartbeats are answered: what is trusted has grown. */
async function heard({ term }: Opened): Promise<void> {
  const before = term.trustedUntilMs;
  while (term.trustedUntilMs === before) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("a process", () => {
  test("that stands still for longer than its lease says that it did, and nothing of what was over long before", async () => {
    const it = await opened(4_000);
    it.proxy.lead(null);
    await it.proxy.refused();
    it.proxy.lead(server().root);
    await heard(it);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);
    const lost = await it.term.lost;
    const why = expect.stringMatching(/could not be kept up: this process stood still for \d+ s$/);
    expect([lost.code, lost.message]).toEqual(["lease-lost", why]);
    expect(lost.hint).toMatch(/SIGSTOP.*--store-lease; the next start goes on/);
  });
});

describe("a session", () => {
  test("that was taken away writes nothing any more, not even what it sends again", async () => {
    const it = await opened();
    await claimAll(it, 1);
    it.proxy.faultOf = (commit) => (commit === 2 ? "before" : null);
    await server().admin("delete from kron.session", it.database);
    await expect(it.store.commit(it.term, claiming(2))).rejects.toMatchObject({
      code: "state-write-failed",
      cause: { code: "lease-lost" },
    });
    expect((await it.term.lost).code).toBe("lease-lost");
    const [row] = await server().admin("select count(*)::int as count from kron.ledger", it.database);
    expect(row).toEqual({ count: 1 });
  });

  test("that was taken away makes no table of the ledger", async () => {
    const it = await opened();
    await claimAll(it, 1);
    const tables = async (): Promise<unknown> => {
      const of = "select relname from pg_class where relname like 'ledger%' and relkind = 'r' order by relname";
      return (await server().admin(of, it.database)).map(({ relname }) => relname);
    };
    const before = await tables();
    await server().admin("delete from kron.session", it.database);
    const month = { identity: "job/1", at: AT + 40 * 86_400_000, kind: "run", text: "" };
    const lost = { code: "state-write-failed", cause: { code: "lease-lost" } };
    await expect(it.store.commit(it.term, { ledger: [month] })).rejects.toMatchObject(lost);
    expect(await tables()).toEqual(before);
  });

  test("that was taken away drops no table of the ledger", async () => {
    const it = await opened();
    await claimAll(it, 1);
    await server().admin("delete from kron.session", it.database);
    const dropped = it.store.dropLedger(it.term, AT + 400 * 86_400_000, () => ({}));
    await expect(dropped).rejects.toMatchObject({ code: "state-write-failed", cause: { code: "lease-lost" } });
    const [row] = await server().admin("select count(*)::int as count from kron.ledger", it.database);
    expect(row).toEqual({ count: 1 });
  });

  test("of another directory that lives on is respected; one that has run out is taken over, and fenced", async () => {
    const first = await opened(2_000);
    const place = placeAt(server().address(first.database), newDirectory(), { leaseMs: 2_000 });
    const refused = await acquirePostgres(place);
    expect(refused).toMatchObject({ ok: false, error: { code: "lock-held" } });
    await first.proxy.close();
    const second = must(await acquirePostgres(place));
    const store = must(await openPostgresStore(place, second));
    await expect(first.store.commit(first.term, claiming(1))).rejects.toThrow();
    expect(await store.commit(second, claiming(1))).toEqual([]);
    await store.close();
    await second.release();
  });
});
