/** Several nodes on one store: who holds what, who is fenced, and what they say to each other. */
import { beforeEach, describe, expect, test } from "vitest";
import { newDocument } from "../../src/core/state/document.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import { keyRanges } from "../../src/persist/key-range.js";
import { documentKey } from "../../src/persist/keys.js";
import type { Batch } from "../../src/persist/store.js";
import { adminOf, balanced, clusters, heldOf, type Member, type Nodes } from "../support/members.js";
import { postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const server = postgresServer();
const newDirectory = temporaryDirectories();
const newNodes = clusters(newDirectory);
const SHARDS = 64;
const MOST_ROUNDS = 100;

let database = "";
let address = "";
let nodes: Nodes;
beforeEach(async () => {
  database = await server().newDatabase();
  address = server().address(database);
  nodes = newNodes(address);
});

const inDatabase = (text: string) => server().admin(text, database);
const admin = () => adminOf(address, newDirectory());

/** Looks of all of them in turn, until nobody gives anything up or gets anything any more. */
async function settledCounts(all: readonly Member[], pool = "any"): Promise<readonly number[]> {
  for (let round = 0, before = ""; round < MOST_ROUNDS; round += 1) {
    const counts: number[] = [];
    let surplus = 0;
    for (const one of all) {
      const pulse = await balanced(one);
      surplus += pulse.surplus.length;
      counts.push(heldOf(pulse, pool).length);
    }
    if (surplus === 0 && counts.join() === before) return counts;
    before = counts.join();
  }
  throw new Error("it never comes to rest");
}

/** The lease of a process that does not live any more has run out. */
const runOut = (node: string) =>
  inDatabase(`update kron.session set expires_at = clock_timestamp() - interval '1 ms' where node = '${node}'`);

async function shardsByNode(): Promise<ReadonlyMap<string, number>> {
  const rows = await inDatabase(`select coalesce(h.node, '-') as node, count(*)::int as count
    from kron.shard s left join kron.session h on h.id = s.session where s.pool = 'any' group by 1`);
  return new Map(rows.map(({ node, count }) => [String(node), Number(count)]));
}

describe("the shards of any", () => {
  test("are even among those who live, whoever comes and goes", async () => {
    const a = await nodes.join("a");
    expect(await settledCounts([a])).toEqual([SHARDS]);
    const b = await nodes.join("b");
    expect(await settledCounts([a, b])).toEqual([32, 32]);
    const c = await nodes.join("c");
    expect((await settledCounts([a, b, c])).toSorted()).toEqual([21, 21, 22]);
    await runOut("b");
    expect(await settledCounts([a, c])).toEqual([32, 32]);
    await nodes.leave(a);
    expect(await settledCounts([c])).toEqual([SHARDS]);
  });

  test("stay where they are as long as nothing changes", async () => {
    const all = await Promise.all(["a", "b", "c", "d", "e", "f", "g", "h", "i"].map((node) => nodes.join(node)));
    await settledCounts(all);
    const holders = async () => inDatabase("select pool, number, session, xmin::text from kron.shard order by 1, 2");
    const before = await holders();
    for (let round = 0; round < 3; round += 1) await Promise.all(all.map(balanced));
    expect(await holders()).toEqual(before);
    expect([...(await shardsByNode()).values()].toSorted()).toEqual([7, 7, 7, 7, 7, 7, 7, 7, 8]);
  });

  test("are not taken by two, and nobody takes too many, when all of them look at once", async () => {
    const all = await Promise.all(["a", "b", "c", "d", "e"].map((node) => nodes.join(node)));
    const pulses = await Promise.all(all.map(({ member }) => member.pulse(true)));
    const held = pulses.flatMap((pulse) => heldOf(pulse).map(({ number }) => number));
    expect(new Set(held).size).toBe(held.length);
    expect(Math.max(...pulses.map((pulse) => heldOf(pulse).length))).toBeLessThanOrEqual(13);
    expect([...(await settledCounts(all))].toSorted()).toEqual([12, 13, 13, 13, 13]);
  });

  test("go to whom they are for, at once, and to nobody who has gone or is draining", async () => {
    const a = await nodes.join("a");
    await a.member.pulse(true);
    const b = await nodes.join("b");
    const [first, second, third] = (await a.member.pulse(true)).surplus;
    expect(first?.heir).toBe("b");
    if (first === undefined || second === undefined || third === undefined) throw new Error("nothing is to go");
    await a.member.giveUp(first, first.heir);
    expect(await a.member.holderOf(first)).toEqual({ session: b.member.session, node: "b" });
    expect(heldOf(await b.member.pulse(false)).map(({ number }) => number)).toEqual([first.number]);
    await a.member.giveUp(second, "nobody");
    expect(await a.member.holderOf(second)).toBeNull();
    must(await admin().drain("b", true));
    await a.member.giveUp(third, "b");
    expect(await a.member.holderOf(third)).toBeNull();
    // What is another's is not given up.
    await a.member.giveUp(first, null);
    expect((await a.member.holderOf(first))?.node).toBe("b");
  });

  test("are left to others by a node that is draining, and come back to it afterwards", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    await settledCounts([a, b]);
    must(await admin().drain("a", true));
    expect((await a.member.pulse(true)).isDraining).toBe(true);
    expect(await settledCounts([a, b])).toEqual([0, SHARDS]);
    must(await admin().drain("b", true));
    const leaving = await b.member.pulse(true);
    expect([leaving.surplus.length, new Set(leaving.surplus.map(({ heir }) => heir))]).toEqual([65, new Set([null])]);
    for (const node of ["a", "b"]) must(await admin().drain(node, false));
    expect(await settledCounts([a, b])).toEqual([32, 32]);
  });

  test("are not taken by whoever may not", async () => {
    const a = await nodes.join("a");
    expect((await a.member.pulse(false)).held).toEqual([]);
  });
});

describe("other pools", () => {
  test("have their shards with those who serve them", async () => {
    const a = await nodes.join("a", { pools: ["gpu"] });
    const b = await nodes.join("b", { pools: ["gpu", "eu"] });
    const c = await nodes.join("c");
    expect(c.member.pools).toEqual(["any", "node/c"]);
    expect(b.member.pools).toEqual(["any", "node/b", "gpu", "eu"]);
    const all = [a, b, c];
    expect(await settledCounts(all, "gpu")).toEqual([8, 8, 0]);
    expect(await settledCounts(all, "eu")).toEqual([0, 16, 0]);
    expect(await settledCounts(all, "node/c")).toEqual([0, 0, 1]);
    await runOut("b");
    expect(await settledCounts([a, c], "gpu")).toEqual([16, 0]);
    expect(await c.member.holderOf({ pool: "eu", number: 3 })).toBeNull();
  });
});

describe("a session of several", () => {
  const holding = (identity: string): Batch => ({
    documents: [{ key: documentKey(identity), text: "{}" }],
    ledger: [{ identity, at: 0, kind: "run", text: "claimed" }],
    claims: [{ key: { identity, at: 0, kind: "run" }, token: "x" }],
    alive: { bootedAt: 1, at: 2 },
  });

  test("that was ended writes nothing any more, and knows it", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    await settledCounts([a, b]);
    must(await admin().evict("a"));
    await expect(a.store.commit(a.term, holding("job/1"))).rejects.toMatchObject({ cause: { code: "lease-lost" } });
    expect((await a.member.lost).code).toBe("lease-lost");
    expect(a.term.trustedUntilMs).toBe(0);
    await expect(a.member.pulse(true)).rejects.toMatchObject({ code: "lease-lost" });
    expect([await b.store.get("job/1"), await b.store.ledgerLatest("job/1", 1)]).toEqual([undefined, []]);
    expect(await settledCounts([b])).toEqual([SHARDS]);
    expect(await b.store.commit(b.term, holding("job/1"))).toEqual([]);
  });

  test("that was ended is told so by its next look", async () => {
    const a = await nodes.join("a");
    await a.member.pulse(true);
    must(await admin().evict("a"));
    await expect(a.member.pulse(true)).rejects.toMatchObject({ code: "lease-lost" });
    expect((await a.member.lost).code).toBe("lease-lost");
    expect(await inDatabase("select count(*)::int as count from kron.shard where session is not null")).toEqual([
      { count: 0 },
    ]);
  });

  test("is refused a claim that another one has", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    expect(await a.store.commit(a.term, holding("job/1"))).toEqual([]);
    const [mine, theirs] = await Promise.all([
      b.store.commit(b.term, holding("job/2")),
      b.store.commit(b.term, holding("job/1")),
    ]);
    expect([mine, theirs]).toEqual([[], holding("job/1").claims]);
  });

  test("is trusted for a while, which grows", async () => {
    const a = await nodes.join("a", { leaseMs: 8_000 });
    const first = a.term.trustedUntilMs;
    expect(first).toBeGreaterThan(performance.now());
    while (a.term.trustedUntilMs === first) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(a.term.trustedUntilMs).toBeGreaterThan(first);
  });

  test("leaves behind when its node went, until that comes back or is forgotten", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    expect(await a.member.isGone("b")).toBeNull();
    await nodes.leave(b);
    const gone = await a.member.isGone("b");
    const { time } = await a.member.pulse(false);
    expect(gone?.sinceAt).toBeGreaterThan(time.at - 60_000);
    expect(gone?.sinceAt).toBeLessThanOrEqual(time.at);
    const again = await nodes.join("b");
    expect(await a.member.isGone("b")).toBeNull();
    expect(await admin().forget("b")).toMatchObject({ ok: false, error: { code: "lock-held" } });
    await nodes.leave(again);
    must(await admin().forget("b"));
    expect(await a.member.isGone("b")).toEqual({ sinceAt: 0 });
    must(await admin().forget("never-there"));
    expect(await a.member.isGone("never-there")).toEqual({ sinceAt: 0 });
  });

  test("finds what it has begun, whoever has written of it since", async () => {
    const [a, b] = [await nodes.join("web.1"), await nodes.join("webx1")];
    const running = (identity: string, Node: string): string => {
      const run = { PeriodID: "", PID: 1, StartedAt: "", ChosenTime: "", AttemptID: "x", Node };
      return serialiseDocument({ ...newDocument(identity), ActiveExecution: run });
    };
    const texts = [running("job/1", "web.1"), running("job/2", "webx1"), serialiseDocument(newDocument("job/web.1"))];
    const documents = texts.map((text, index) => ({
      key: documentKey(index === 2 ? "job/web.1" : `job/${index + 1}`),
      text,
    }));
    await b.store.commit(b.term, { documents });
    const found = await a.member.documentsNaming("web.1");
    expect(found).toMatchObject([{ key: documentKey("job/1"), text: texts[0], isIntact: true }]);
    expect(await a.member.documentsNaming("web")).toEqual([]);
  });

  test("is one of those that are told of", async () => {
    const a = await nodes.join("a", { pools: ["gpu"] });
    await a.member.pulse(true);
    const b = await nodes.join("b");
    const [first, second] = await b.member.nodes();
    expect(first).toMatchObject({ node: "a", session: a.member.session, pid: process.pid, isDraining: false });
    expect(first?.pools).toEqual(["any", "node/a", "gpu"]);
    expect([first?.shards.length, second?.shards.length]).toEqual([81, 0]);
    expect(first?.bootId).toMatch(/^[0-9a-f-]{36}$/);
    expect(first?.expiresAt).toBeGreaterThan(first?.startedAt ?? 0);
    expect(must(await admin().nodes()).map(({ node }) => node)).toEqual(["a", "b"]);
  });
});

describe("who may come in", () => {
  test("nobody beside a daemon alone, and none alone beside nodes", async () => {
    const alone = newDirectory();
    expect(await nodes.refusal(undefined, { directory: alone })).toBeNull();
    for (const node of ["a", "b"]) await nodes.join(node, { leaseMs: 8_000 });
    const refused = await nodes.refusal(undefined, { leaseMs: 8_000 });
    expect([refused?.code, refused?.message]).toEqual(["lock-held", expect.stringMatching(/shared by nodes: a, b$/)]);
    expect(refused?.hint).toMatch(/--node/);
    await nodes.end();
    const only = await newNodes(address).refusal(undefined);
    expect(only).toBeNull();
  });

  test("no node of a name that lives, and at once one of the same directory", async () => {
    const a = await nodes.join("a", { leaseMs: 8_000 });
    const refused = await nodes.refusal("a", { leaseMs: 8_000 });
    expect([refused?.code, refused?.message]).toEqual(["lock-held", expect.stringMatching(/is node a of postgres/)]);
    expect(refused?.hint).toMatch(/another name by --node/);
    expect((await a.member.nodes()).map(({ node }) => node)).toEqual(["a"]);
  });

  test("a node whose lease has run out is followed by one of its name", async () => {
    await nodes.join("a");
    await runOut("a");
    const again = await nodes.join("a");
    expect(await settledCounts([again])).toEqual([SHARDS]);
  });
});

describe("a letter", () => {
  test("comes once, is answered once, and waits for its answer", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    const ids = [await a.member.send(b.member.session, '"one"'), await a.member.send(b.member.session, '"two"')];
    expect(await a.member.answerOf(ids[0] ?? "")).toBeUndefined();
    const { letters } = await b.member.pulse(true);
    expect(letters).toEqual(ids.map((id, index) => ({ id, from: "a", text: index === 0 ? '"one"' : '"two"' })));
    expect((await b.member.pulse(true)).letters).toEqual([]);
    await b.member.answer(ids[0] ?? "", '"done"');
    await b.member.answer(ids[0] ?? "", '"done again"');
    expect(await a.member.answerOf(ids[0] ?? "")).toBe('"done"');
    expect(await a.member.answerOf(ids[1] ?? "")).toBeUndefined();
    expect((await b.member.pulse(true)).letters).toEqual([]);
    // Somebody else's is not ours to read or to answer.
    expect(await b.member.answerOf(ids[1] ?? "")).toBeNull();
    await a.member.answer(ids[1] ?? "", '"forged"');
    expect(await a.member.answerOf(ids[1] ?? "")).toBeUndefined();
  });

  test("to somebody who is gone, before or after it was sent, has no answer", async () => {
    const [a, b, c] = [await nodes.join("a"), await nodes.join("b"), await nodes.join("c")];
    const before = await a.member.send(b.member.session, '"hello"');
    await nodes.leave(b);
    expect(await a.member.answerOf(before)).toBeNull();
    expect(await a.member.answerOf(await a.member.send(b.member.session, '"hello"'))).toBeNull();
    const answered = await a.member.send(c.member.session, '"hello"');
    await c.member.answer(answered, '"yes"');
    expect(await a.member.answerOf(answered)).toBe('"yes"');
  });
});

describe("a turn", () => {
  test("is one session's until it is passed on, and nobody else passes it on", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    expect([await a.member.takeTurn("t/x"), await b.member.takeTurn("t/x")]).toEqual([true, false]);
    // Asked again, because an answer was lost.
    expect(await a.member.takeTurn("t/x")).toBe(true);
    expect(await b.member.takeTurn("t/y")).toBe(true);
    await b.member.passTurn("t/x");
    expect([...(await b.member.turnsTaken("t/"))].toSorted()).toEqual(["t/x", "t/y"]);
    expect(await b.member.turnsTaken("t/y")).toEqual(["t/y"]);
    await a.member.passTurn("t/x");
    expect([await b.member.takeTurn("t/x"), await a.member.takeTurn("t/x")]).toEqual([true, false]);
  });

  test("C3: goes with its session, of which nothing is written from then on", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    expect(await a.member.takeTurn("t")).toBe(true);
    expect(await b.member.replaceObject("x", null, "one")).toBe(true);
    must(await admin().evict("a"));
    expect(await b.member.takeTurn("t")).toBe(true);
    await expect(a.member.replaceObject("x", "one", "late")).rejects.toMatchObject({ code: "lease-lost" });
    expect((await b.store.object("x"))?.text).toBe("one");
  });

  test("is one node's at a time, however many want it at once", async () => {
    const all = await Promise.all(["a", "b", "c"].map((node) => nodes.join(node)));
    for (let round = 0; round < 10; round += 1) {
      const taken = await Promise.all(all.map(({ member }) => member.takeTurn("t")));
      expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
      await all[taken.indexOf(true)]?.member.passTurn("t");
    }
  });
});

describe("an object that several change", () => {
  test("is put in the place of the very one that was looked at, by one of all", async () => {
    const all = await Promise.all(["a", "b", "c"].map((node) => nodes.join(node)));
    const first = await Promise.all(all.map(({ member }, at) => member.replaceObject("x", null, `${at}`)));
    expect(first.filter((isPut) => isPut)).toHaveLength(1);
    const text = `${first.indexOf(true)}`;
    const next = await Promise.all(all.map(({ member }, at) => member.replaceObject("x", text, `next ${at}`)));
    expect(next.filter((isPut) => isPut)).toHaveLength(1);
    expect((await all[0]?.store.object("x"))?.text).toBe(`next ${next.indexOf(true)}`);
    expect(await all[0]?.member.replaceObject("x", text, "late")).toBe(false);
  });

  test("are counted by how their names begin", async () => {
    const a = await nodes.join("a");
    for (const name of ["m/a/1", "m/a/2", "m/aa/1", "m/b/1", "n"]) await a.member.replaceObject(name, null, "");
    expect([await a.member.countObjects("m/a/"), await a.member.countObjects("m/")]).toEqual([2, 4]);
  });
});

describe("a shard", () => {
  test("has times of being alive of its own, and those of a daemon that was alone", async () => {
    const a = await nodes.join("a");
    await a.member.pulse(true);
    const [first, second] = [3, 4].map((number) => a.member.storeOf({ pool: "any", number }));
    if (first === undefined || second === undefined) throw new Error("no stores");
    await a.store.commit(a.term, { alive: { bootedAt: 1, at: 2 } });
    await Promise.all([
      first.commit(a.term, { alive: { bootedAt: 10, at: 20 } }),
      second.commit(a.term, { alive: { bootedAt: 10, at: 30 } }),
    ]);
    const all = { bootedAt: 1, at: 2 };
    expect(await first.aliveSpans(null, 0, 99)).toEqual([all, { bootedAt: 10, at: 20 }]);
    expect(await second.aliveSpans("whatever", 0, 99)).toEqual([all, { bootedAt: 10, at: 30 }]);
    expect(await a.store.aliveSpans(null, 0, 99)).toEqual([all, { bootedAt: 10, at: 30 }]);
    const identity = Array.from({ length: 1_000 }, (_, index) => `job/${index}`).find((name) => {
      const { from, to } = keyRanges(SHARDS)[3] ?? { from: "", to: "" };
      return documentKey(name) >= from && documentKey(name) < (to ?? "");
    });
    expect(await a.member.shardOf(identity ?? "")).toEqual({ pool: "any", number: 3 });
    expect(await a.store.aliveSpans(identity ?? "", 0, 99)).toEqual([all, { bootedAt: 10, at: 20 }]);
    await first.commit(a.term, { removed: { alive: [10, 1] } });
    expect(await first.aliveSpans(null, 0, 99)).toEqual([]);
    expect(await second.aliveSpans(null, 0, 99)).toEqual([{ bootedAt: 10, at: 30 }]);
    await a.store.commit(a.term, { removed: { alive: [10] } });
    expect(await second.aliveSpans(null, 0, 99)).toEqual([]);
  });
});
