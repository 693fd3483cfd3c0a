/** C17: definitions come as one set from outside, and each job is looked after in one place at any time. */
import pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { newDocument } from "../../src/core/state/document.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import type { Applied, Shard, ShardBehind, WantedJob } from "../../src/persist/cluster.js";
import { documentKey } from "../../src/persist/keys.js";
import type { StateStore } from "../../src/persist/store.js";
import { adminOf, balanced, clusters, type Member, type Nodes, placeOf } from "../support/members.js";
import { postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";
import { documentsOf, must } from "./store-contract.js";

const server = postgresServer();
const newDirectory = temporaryDirectories();
const newNodes = clusters(newDirectory);
const SETTINGS = '{"a":1}';

let address = "";
let database = "";
let nodes: Nodes;
beforeEach(async () => {
  database = await server().newDatabase();
  address = server().address(database);
  nodes = newNodes(address);
});

const admin = () => adminOf(address, newDirectory());

function jobs(count: number, pool = "any", text = "{}"): WantedJob[] {
  return Array.from({ length: count }, (_, index) => ({ identity: `job/${index}`, pool, text }));
}

async function apply(wanted: readonly WantedJob[], settings = SETTINGS): Promise<Applied> {
  const applied = must(await admin().apply({ jobs: wanted, settings }));
  if (applied === null) throw new Error("it was to be applied over whatever is there");
  return applied;
}

async function behind(revision: number): Promise<readonly ShardBehind[]> {
  return must(await admin().shardsBehind(revision));
}

/** A node that serves `gpu` too, with all shards taken. */
async function started(pools: readonly string[] = ["gpu"]): Promise<Member> {
  const one = await nodes.join("a", { pools });
  await one.member.pulse(true);
  return one;
}

/** As a host does: everything that is wanted is in force. */
async function settle({ member }: Member): Promise<void> {
  const { held, revision } = await member.pulse(true);
  for (const shard of held) {
    if (shard.revision >= revision) continue;
    await member.wantedIn(shard);
    await member.settled(shard, revision);
  }
}

async function shardIn(one: Member, identity: string, pool: string): Promise<Shard> {
  const { number } = await one.member.shardOf(identity);
  // Of any there are four times as many.
  return pool === "any" ? { pool, number } : { pool, number: Math.floor(number / 4) };
}

const within = async (store: StateStore, identity: string): Promise<boolean> =>
  documentKey(identity) in (await documentsOf(store));

async function namesIn(one: Member, shard: Shard): Promise<readonly string[]> {
  return (await one.member.wantedIn(shard)).map(({ identity }) => identity);
}

describe("a set", () => {
  test("is compared with the one before, where it lies", async () => {
    const a = await started();
    expect(await apply(jobs(3))).toEqual({
      ...{ revision: 1, added: ["job/0", "job/1", "job/2"], removed: [], changed: [], moving: [] },
      ...{ unchanged: 0, hasNewSettings: true },
    });
    const same = { revision: 1, added: [], removed: [], changed: [], moving: [], unchanged: 3 };
    expect(await apply(jobs(3))).toEqual({ ...same, hasNewSettings: false });
    expect(await apply(jobs(3), '{"a":2}')).toMatchObject({ ...same, revision: 2, hasNewSettings: true });
    expect(await a.member.settings()).toBe('{"a":2}');
    const next = [
      ...jobs(2).slice(1),
      { identity: "job/0", pool: "any", text: "[]" },
      { ...jobs(5)[4] },
    ] as WantedJob[];
    const changes = { added: ["job/4"], removed: ["job/2"], changed: ["job/0"], moving: [], unchanged: 1 };
    const asked = { jobs: next, settings: '{"a":2}' };
    expect(must(await admin().compare(asked))).toMatchObject({ ...changes, revision: 2 });
    expect((await a.member.pulse(true)).revision).toBe(2);
    expect(must(await admin().apply(asked))).toMatchObject({ ...changes, revision: 3 });
    expect((await a.member.pulse(true)).revision).toBe(3);
  });

  test("only over the set that it was compared with, where that is asked for", async () => {
    await started();
    await apply(jobs(2));
    expect(must(await admin().apply({ jobs: jobs(3), settings: SETTINGS }, 0))).toBeNull();
    expect((await apply(jobs(2))).revision).toBe(1);
    expect(must(await admin().apply({ jobs: jobs(3), settings: SETTINGS }, 1))).toMatchObject({ added: ["job/2"] });
  });

  test("is looked up again, as it was written", async () => {
    await started();
    expect(must(await admin().wanted(["job/0"]))).toEqual({ jobs: [], settings: null });
    await apply(jobs(2_500));
    await apply(jobs(2_499));
    const names = jobs(2_500).map(({ identity }) => identity);
    const { jobs: found, settings } = must(await admin().wanted([...names, "other"]));
    expect([found.length, settings]).toEqual([2_499, SETTINGS]);
    expect(found.find(({ identity }) => identity === "job/7")).toEqual({ identity: "job/7", pool: "any", text: "{}" });
  });

  test("lies in shards, each job in one of them", async () => {
    const a = await started();
    await apply([...jobs(300), { identity: "gpu/1", pool: "gpu", text: "{}" }]);
    const { held } = await a.member.pulse(true);
    const found = new Map<string, Shard>();
    for (const { pool, number } of held) {
      for (const identity of await namesIn(a, { pool, number })) {
        expect(found.has(identity)).toBe(false);
        found.set(identity, { pool, number });
      }
    }
    expect(found.size).toBe(301);
    for (const [identity, shard] of found)
      expect([identity, await a.member.shardOf(identity)]).toEqual([identity, shard]);
    expect(found.get("gpu/1")?.pool).toBe("gpu");
  });

  test("needs nothing of shards that it does not touch, once they have settled what was before", async () => {
    const a = await started([]);
    await apply(jobs(200));
    expect((await behind(1)).length).toBe(65);
    await settle(a);
    expect(await behind(1)).toEqual([]);
    await apply([...jobs(199), { identity: "job/199", pool: "any", text: "[]" }]);
    const shard = await a.member.shardOf("job/199");
    expect(await behind(2)).toEqual([{ ...shard, node: "a", jobs: (await namesIn(a, shard)).length }]);
    await settle(a);
    expect(await behind(2)).toEqual([]);
    await apply([...jobs(199), { identity: "job/199", pool: "any", text: "[]" }], '{"a":3}');
    expect((await behind(3)).length).toBe(65);
  });

  test("may name a pool that nobody serves: its jobs wait", async () => {
    await started([]);
    await apply(jobs(5, "node/far"));
    expect((await behind(1)).filter(({ node }) => node === null)).toEqual([
      { pool: "node/far", number: 0, node: null, jobs: 5 },
    ]);
  });

  test("comes after the other one when two are applied at once", async () => {
    const a = await started();
    const results = await Promise.all([1, 2, 3].map((count) => apply(jobs(count))));
    expect(results.map(({ revision }) => revision).toSorted()).toEqual([1, 2, 3]);
    const last = results.find(({ revision }) => revision === 3);
    const { held } = await a.member.pulse(true);
    const all = await Promise.all(held.map((shard) => namesIn(a, shard)));
    expect(all.flat().length).toBe((last?.added.length ?? 0) + (last?.unchanged ?? 0));
  });

  test("of many is written in one go", async () => {
    await started();
    expect((await apply(jobs(5_000))).added.length).toBe(5_000);
    expect(await apply(jobs(4_999))).toMatchObject({ removed: ["job/4999"], unchanged: 4_999 });
  });
});

describe("a job that is not wanted any more", () => {
  test("stays with its shard until that has let go of it", async () => {
    const a = await started();
    await apply(jobs(1, "gpu"));
    await settle(a);
    await a.store.commit(a.term, { documents: [{ key: documentKey("job/0"), text: "{}" }] });
    const [gpu, any] = [await a.member.shardOf("job/0"), { pool: "any", number: 0 }];
    expect(gpu.pool).toBe("gpu");
    await apply([]);
    expect([await namesIn(a, gpu), await within(a.member.storeOf(gpu), "job/0")]).toEqual([[], true]);
    await settle(a);
    await apply([], '{"a":9}');
    await a.member.pulse(true);
    const now = await a.member.shardOf("job/0");
    expect([now.pool, any.pool]).toEqual(["any", "any"]);
    expect([await within(a.member.storeOf(gpu), "job/0"), await within(a.member.storeOf(now), "job/0")]).toEqual([
      false,
      true,
    ]);
    expect(await a.member.storeOf(now).counts()).toEqual({ documents: 1, ledger: 0, definitions: 0 });
  });

  test("stays with it while something of it runs, wherever it is wanted again, and goes there when that is over", async () => {
    const a = await started();
    await apply(jobs(1, "gpu"));
    await settle(a);
    const key = documentKey("job/0");
    const runs = serialiseDocument({
      ...newDocument("job/0"),
      ActiveExecution: { PeriodID: "2026-03-01T00:01:00Z", PID: 7, StartedAt: "", ChosenTime: "", Node: "a" },
    });
    await a.store.commit(a.term, { documents: [{ key, text: runs }] });
    const gpu = await a.member.shardOf("job/0");
    await apply([]);
    await settle(a);
    expect(await apply(jobs(1))).toMatchObject({ added: [], moving: ["job/0"] });
    expect([await a.member.shardOf("job/0"), await within(a.member.storeOf(gpu), "job/0")]).toEqual([gpu, true]);
    await a.store.commit(a.term, { documents: [{ key, text: serialiseDocument(newDocument("job/0")) }] });
    expect(await apply(jobs(1))).toMatchObject({ added: ["job/0"], moving: [], changed: [] });
    await a.member.pulse(true);
    expect((await a.member.shardOf("job/0")).pool).toBe("any");
  });

  test("and is wanted again before that goes on as if nothing had been", async () => {
    const a = await started();
    await apply(jobs(2, "gpu"));
    await apply(jobs(1, "gpu"));
    expect(await apply(jobs(2, "gpu"))).toMatchObject({ added: ["job/1"], moving: [] });
    await settle(a);
    expect(await namesIn(a, await a.member.shardOf("job/1"))).toContain("job/1");
  });
});

describe("a job that goes to another pool", () => {
  test("leaves the old one first, and belongs to nobody in between", async () => {
    const a = await started();
    await apply(jobs(1));
    await settle(a);
    await a.store.commit(a.term, { documents: [{ key: documentKey("job/0"), text: "{}" }] });
    const any = await a.member.shardOf("job/0");
    const gpu = await shardIn(a, "job/0", "gpu");
    const wanted = jobs(1, "gpu");
    expect(await apply(wanted)).toMatchObject({ revision: 2, moving: ["job/0"], added: [], changed: [], removed: [] });
    expect([await namesIn(a, any), await namesIn(a, gpu)]).toEqual([[], []]);
    expect(await within(a.member.storeOf(any), "job/0")).toBe(true);
    expect(await within(a.member.storeOf(gpu), "job/0")).toBe(false);
    // Whoever does not wait is told the same again, and nothing is lost.
    expect(await apply(wanted)).toMatchObject({ revision: 2, moving: ["job/0"] });
    expect((await behind(2)).map(({ pool, number }) => ({ pool, number }))).toEqual([any]);
    await settle(a);
    expect(await apply(wanted)).toMatchObject({ revision: 3, moving: [], added: ["job/0"] });
    await a.member.pulse(true);
    expect([await namesIn(a, any), await namesIn(a, gpu)]).toEqual([[], ["job/0"]]);
    expect(await within(a.member.storeOf(any), "job/0")).toBe(false);
    expect(await within(a.member.storeOf(gpu), "job/0")).toBe(true);
    expect(await a.member.shardOf("job/0")).toEqual(gpu);
  });

  test("goes at once where nobody looks after it, and is not taken there meanwhile", async () => {
    const a = await started();
    await apply(jobs(1, "node/far"));
    expect(await apply(jobs(1, "gpu"))).toMatchObject({ revision: 2, moving: [], changed: ["job/0"] });
    await a.member.pulse(true);
    expect((await a.member.shardOf("job/0")).pool).toBe("gpu");
    const far = await nodes.join("far");
    await far.member.pulse(true);
    expect(await namesIn(far, { pool: "node/far", number: 0 })).toEqual([]);
  });

  test("leaves any first, if it was in force there before anybody applied anything", async () => {
    const directory = newDirectory();
    const { backend, at } = placeOf(address, directory);
    const term = must(await backend.acquire(at));
    const store = must(await backend.open(term));
    const defined = (identity: string, text: string | null, definedAt = 1) => ({ identity, definedAt, text });
    await store.commit(term, {
      definitions: [defined("job/0", "{}"), defined("job/1", "{}"), defined("job/1", null, 2)],
    });
    await store.close();
    await term.release();
    const a = await started();
    expect(await apply(jobs(2, "gpu"))).toMatchObject({ moving: ["job/0"], added: ["job/1"] });
    // Its supervisor takes it out of force.
    await a.store.commit(a.term, { definitions: [defined("job/0", null, 3)] });
    await settle(a);
    expect(await apply(jobs(2, "gpu"))).toMatchObject({ moving: [], added: ["job/0"], unchanged: 1 });
  });
});

test("what a daemon alone had in force is told as removed by the first set that does not name it, endpoints aside", async () => {
  const { backend, at } = placeOf(address, newDirectory());
  const term = must(await backend.acquire(at));
  const store = must(await backend.open(term));
  const definitions = ["job/0", "old", "endpoint:x"].map((identity) => ({ identity, definedAt: 1, text: "{}" }));
  await store.commit(term, { definitions: [...definitions, { identity: "gone", definedAt: 1, text: null }] });
  await store.close();
  await term.release();
  const a = await started();
  const asked = { jobs: jobs(1), settings: SETTINGS };
  expect(must(await admin().compare(asked))).toMatchObject({ removed: ["old"] });
  expect(await apply(jobs(1))).toMatchObject({ removed: ["old"] });
  await settle(a);
  expect(await apply(jobs(1))).toMatchObject({ revision: 1, removed: [] });
});

test("a set that was in the way of somebody else is written again", async () => {
  const a = await started([]);
  await apply(jobs(1));
  await settle(a);
  const client = new pg.Client({ host: server().root, user: "postgres", database });
  client.on("error", () => undefined);
  await client.connect();
  // The server breaks off whoever looks first: that is the node where a machine is so slow that the set has looked before it.
  for (let revision = 2, isBrokenOff = true; isBrokenOff; revision++) {
    await client.query("begin");
    // As a node that begins: first the pool, then the shards of one that has died.
    await client.query("select from kron.pool where name = 'any' for no key update");
    const applied = apply(jobs(revision));
    await oneWaits();
    const taken = await client.query("update kron.shard set session = null where pool = 'any'").catch(deadlock);
    isBrokenOff = taken === null;
    await client.query(isBrokenOff ? "rollback" : "commit");
    expect(await applied).toMatchObject({ revision, added: [`job/${revision - 1}`] });
  }
  await client.end();
});

async function oneWaits(): Promise<void> {
  const waits =
    "select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  while ((await server().admin(waits, database))[0]?.["waiting"] !== 1)
    await new Promise((resolve) => setImmediate(resolve));
}

function deadlock(error: unknown): null {
  expect(error).toMatchObject({ code: "40P01" });
  return null;
}

describe("a daemon that was alone in between", () => {
  test("leaves every shard to begin anew, and refuses whatever is for several", async () => {
    const a = await started([]);
    await apply(jobs(3));
    await settle(a);
    await nodes.leave(a);
    const directory = newDirectory();
    const { backend, at } = placeOf(address, directory);
    const term = must(await backend.acquire(at));
    const asked = [
      admin().apply({ jobs: [], settings: "{}" }),
      admin().shardsBehind(1),
      admin().nodes(),
      admin().drain("a", true),
      admin().evict("a"),
      admin().forget("a"),
    ];
    const refused = await Promise.all(asked);
    for (const one of refused) {
      if (one.ok) throw new Error("not refused");
      expect([one.error.code, one.error.message]).toEqual(["lock-held", expect.stringMatching(/for itself$/)]);
      expect(one.error.hint).toMatch(/--node/);
    }
    await term.release();
    expect(await behind(1)).toEqual([
      { pool: "any", number: expect.any(Number), node: null, jobs: 1 },
      expect.anything(),
      expect.anything(),
    ]);
  });
});

describe("from outside", () => {
  test("a node that is not there is named, with those that are", async () => {
    await balanced(await started());
    for (const refused of [await admin().drain("far", true), await admin().evict("far")]) {
      expect(refused).toMatchObject({ ok: false, error: { code: "node-unknown", hint: "these live: a" } });
    }
  });

  test("a store that is not there is said to be missing", async () => {
    expect(await admin().apply({ jobs: [], settings: "{}" })).toMatchObject({
      ok: false,
      error: { code: "state-missing" },
    });
    const nowhere = adminOf(server().address("nowhere"), newDirectory());
    expect(await nowhere.nodes()).toMatchObject({ ok: false, error: { code: "store-denied" } });
  });
});
