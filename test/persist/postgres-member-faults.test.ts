/** K4 for one of several nodes: whatever happens to a connection or to the server, a node goes on, or ends knowing why. */
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Shard } from "../../src/persist/cluster.js";
import { documentKey } from "../../src/persist/keys.js";
import type { Batch } from "../../src/persist/store.js";
import { balanced, clusters, heldOf, type Member, type Nodes } from "../support/members.js";
import { postgresServer, ROLE } from "../support/postgres.js";
import { type Fault, type FaultyProxy, proxies } from "../support/postgres-proxy.js";
import { temporaryDirectories } from "../support/temporary.js";

const server = postgresServer({ isDurable: true });
const newDirectory = temporaryDirectories();
const newProxy = proxies(newDirectory);
const newNodes = clusters(newDirectory);
const AT = Date.UTC(2026, 2, 1);
const SHARDS = [0, 7, 63].map((number): Shard => ({ pool: "any", number }));

let database = "";
let proxy: FaultyProxy;
/** They reach the server by way of the proxy. */
let nodes: Nodes;
let direct: Nodes;
beforeEach(async () => {
  database = await server().newDatabase();
  proxy = await newProxy(server().root);
  nodes = newNodes(`postgres:///${database}?host=${proxy.directory}&user=${ROLE}`);
  direct = newNodes(server().address(database));
});

const inDatabase = (text: string) => server().admin(text, database);

/** As the supervisor of that shard commits it. */
function claiming(shard: Shard, number: number): Batch {
  const key = { identity: `job/${shard.number}`, at: AT + number, kind: "run" };
  return {
    documents: [{ key: documentKey(key.identity), text: String(number) }],
    ledger: [{ ...key, text: `run ${number}` }],
    claims: [{ key, token: `attempt ${number}` }],
    alive: { bootedAt: AT, at: AT + number },
  };
}

/** Each shard one after the other, all shards at once. */
async function claimAll({ member, term }: Member, count: number, from = 1): Promise<void> {
  const one = async (shard: Shard): Promise<void> => {
    const store = member.storeOf(shard);
    for (let number = from; number <= count; number += 1) {
      expect([number, await store.commit(term, claiming(shard, number))]).toEqual([number, []]);
    }
  };
  await Promise.all(SHARDS.map(one));
}

async function expectAll({ member }: Member, count: number): Promise<void> {
  for (const shard of SHARDS) {
    const store = member.storeOf(shard);
    const { length } = await store.ledgerLatest(`job/${shard.number}`, count + 1);
    expect([length, (await store.get(`job/${shard.number}`))?.text]).toEqual([count, String(count)]);
    expect(await store.aliveSpans(null, 0, AT * 2)).toEqual([{ bootedAt: AT, at: AT + count }]);
  }
}

describe("commits of several shards", () => {
  const faults: readonly Fault[] = ["before", "within", "unheard", "after"];
  test.each(faults)("on a connection that breaks %s a commit are applied once, and granted", async (fault) => {
    const one = await nodes.join("a");
    await one.member.pulse(true);
    proxy.faultOf = (commit) => (commit % 3 === 1 ? fault : null);
    await claimAll(one, 10);
    proxy.faultOf = () => null;
    await expectAll(one, 10);
    expect(proxy.commits).toBeGreaterThan(10);
  });
});

/** K10: everybody else has all connections that there are; what a node has is broken, all but its heartbeats. */
describe("a server that takes no more connections", () => {
  const limited = (most: number) => inDatabase(`alter role ${ROLE} connection limit ${most}`);
  afterEach(() => limited(-1));
  /** One that is idle is made anew with the next statement, and refused. */
  const breakAll = (but: string) =>
    inDatabase(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
      and usename = '${ROLE}' and query not like '%${but}%'`);

  test("loses and doubles nothing of a node whose heartbeats go on: it waits until there is room", async () => {
    const one = await direct.join("a", { leaseMs: 8_000 });
    await one.member.pulse(true);
    await claimAll(one, 3);
    await heartbeaten(one);
    await limited(0);
    await breakAll("kron.session");
    let isDone = false;
    const claiming = claimAll(one, 10, 4).then(() => {
      isDone = true;
    });
    // Its lease is kept up meanwhile.
    for (let beats = 0; beats < 5; beats += 1) await heartbeaten(one);
    expect(isDone).toBe(false);
    await limited(-1);
    await claiming;
    await expectAll(one, 10);
    expect(await Promise.race([one.member.lost, Promise.resolve("held")])).toBe("held");
  });

  test("ends a node that cannot keep its lease up, which says so; another one takes what it had", async () => {
    const one = await direct.join("a", { leaseMs: 4_000 });
    await one.member.pulse(true);
    await claimAll(one, 3);
    await limited(0);
    await breakAll("nothing of that");
    const lost = await one.member.lost;
    expect([lost.code, lost.message]).toEqual([
      "lease-lost",
      expect.stringMatching(/could not be kept up: .* it takes no more connections or has no more room \(too many/),
    ]);
    expect(lost.hint).toMatch(/raise max_connections, or the rolconnlimit of its role; the next start goes on/);
    await limited(-1);
    const two = await direct.join("b");
    while (heldOf(await two.member.pulse(true)).length < 64) await new Promise((resolve) => setTimeout(resolve, 50));
    await expectAll(two, 3);
  });
});

/** The next heartbeat is answered: what is trusted has grown. */
async function heartbeaten({ term }: Member): Promise<void> {
  const before = term.trustedUntilMs;
  while (term.trustedUntilMs === before) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a connection that breaks", () => {
  test("loses no letter, delivers none twice, and no shard", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    for (const one of [a, b, a, b]) await balanced(one);
    const answered = new Map<string, string>();
    for (let round = 0; round < 20; round += 1) {
      const sending = a.member.send(b.member.session, `"${round}"`);
      if (round % 2 === 0) proxy.reset();
      const id = await sending;
      const looking = b.member.pulse(true);
      if (round % 3 === 0) proxy.reset();
      const { letters, held } = await looking;
      expect([letters.map(({ text }) => text), held.length]).toEqual([[`"${round}"`], 33]);
      const answering = b.member.answer(id, `"answer ${round}"`);
      if (round % 5 === 0) proxy.reset();
      await answering;
      answered.set(id, (await a.member.answerOf(id)) ?? "");
    }
    expect([...answered.values()]).toEqual(Array.from({ length: 20 }, (_, round) => `"answer ${round}"`));
    expect(await inDatabase("select count(*)::int as count from kron.letter")).toEqual([{ count: 20 }]);
  });

  test("while a shard is handed over gives it to nobody else", async () => {
    const a = await nodes.join("a");
    await a.member.pulse(true);
    const b = await direct.join("b");
    const { surplus } = await a.member.pulse(true);
    for (const { heir, ...shard } of surplus) {
      const giving = a.member.giveUp(shard, heir);
      proxy.reset();
      await giving;
    }
    expect([surplus.length, heldOf(await b.member.pulse(false)).length]).toEqual([32, 32]);
  });
});

describe("a server", () => {
  test("that stops as if the power had gone, and comes back: nodes go on with what they had", async () => {
    const [a, b] = [await direct.join("a"), await direct.join("b")];
    for (const one of [a, b, a, b]) await balanced(one);
    const before = (await a.member.pulse(true)).held;
    const looking = a.member.pulse(true);
    await server().stop("SIGQUIT");
    const waiting = b.member.pulse(true);
    await server().start();
    expect([(await looking).held, (await waiting).held.length]).toEqual([before, 33]);
    expect((await a.member.pulse(true)).held).toEqual(before);
    await claimAll(a, 2);
  });

  test("that is away for longer than the lease: the node is told, and another one takes what it had", async () => {
    const a = await nodes.join("a", { leaseMs: 4_000 });
    await a.member.pulse(true);
    await proxy.close();
    const looking = a.member.pulse(true);
    expect((await a.member.lost).message).toContain("could not be kept up");
    await expect(looking).rejects.toMatchObject({ code: "lease-lost" });
    const shard = { pool: "any", number: 0 };
    await expect(a.member.storeOf(shard).commit(a.term, claiming(shard, 1))).rejects.toThrow();
    const b = await direct.join("b");
    while (heldOf(await balanced(b)).length < 64) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await b.member.isGone("a"))?.sinceAt).toBeLessThanOrEqual((await b.member.pulse(true)).time.at);
  });
});

describe("a session that has run out", () => {
  test("and has a commit on its way keeps its shards until that is through, and holds up nobody", async () => {
    const [a, b] = [await direct.join("a"), await direct.join("b")];
    for (const one of [a, b, a, b]) await balanced(one);
    const client = new pg.Client({ host: server().root, user: ROLE, database });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("begin; select from kron.session where node = 'b' for key share");
    await inDatabase("update kron.session set expires_at = clock_timestamp() - interval '1 s' where node = 'b'");
    expect(heldOf(await a.member.pulse(true)).length).toBe(32);
    await client.query("commit");
    expect(heldOf(await a.member.pulse(true)).length).toBe(64);
    await client.end();
    await expect(b.member.pulse(true)).rejects.toMatchObject({ code: "lease-lost" });
  });
});
