/** S50: a set of jobs is put in force on several nodes; what moves is let go before it is taken. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS, type Settings } from "../../../src/core/config/settings.js";
import { type ApplyReport, applyWish, compareWith, type Wish } from "../../../src/krond/apply/apply.js";
import { unservedPools } from "../../../src/krond/apply/wish.js";
import { SharedStore } from "./shared-store.js";

const ANY = { name: "web1", pools: ["any"], slowness: 2 };
const GPU = { name: "gpu1", pools: ["gpu"], slowness: 3 };
const NEVER = Number.POSITIVE_INFINITY;
const WAIT_MS = 10_000;

function wishOf(jobs: Readonly<Record<string, string>>, more: Partial<Settings> = {}): Wish {
  const rows = Object.entries(jobs).map(([identity, pool]) => ({ identity, pool, text: `${identity} in ${pool}` }));
  return { jobs: rows, settings: { ...SETTINGS_DEFAULTS, ...more } };
}

async function applied(store: SharedStore, wish: Wish, waitMs = WAIT_MS): Promise<ApplyReport> {
  return (await applyWish(store, wish, waitMs)).report;
}

describe("what is wanted", () => {
  test("is written at once and waited for, until everybody has it", async () => {
    const store = new SharedStore([ANY, GPU]);
    expect(await applied(store, wishOf({ a: "any", b: "gpu" }))).toEqual({
      ...{ revision: 1, isOvertaken: false, stayed: [], behind: [] },
    });
    expect(store.nodes.map(({ inForce }) => [...inForce])).toEqual([["a"], ["b"]]);
  });

  test("whoever does not get to it is named when the time is over", async () => {
    const store = new SharedStore([ANY, { ...GPU, slowness: NEVER }]);
    const { behind } = await applied(store, wishOf({ a: "any", b: "gpu" }));
    expect(behind.map(({ node }) => node)).toEqual(["gpu1"]);
  });

  test("nobody waits where no time is given", async () => {
    const store = new SharedStore([ANY]);
    const { behind } = await applied(store, wishOf({ a: "any" }), 0);
    expect(behind).toHaveLength(1);
  });

  test("the same once more changes nothing", async () => {
    const store = new SharedStore([ANY]);
    await applied(store, wishOf({ a: "any" }));
    expect((await applied(store, wishOf({ a: "any" }))).revision).toBe(1);
  });

  test("it is compared with what is there, settings too, and nothing is written", async () => {
    const store = new SharedStore([ANY]);
    await applied(store, wishOf({ a: "any", b: "any" }));
    const comparison = await compareWith(store.admin, wishOf({ a: "gpu", c: "any" }, { killGraceMs: 1 }));
    expect(comparison.applied).toMatchObject({ added: ["c"], removed: ["b"], changed: [], moving: ["a"] });
    expect(comparison.settings).toEqual(["killGraceMs"]);
    expect(comparison.before.get("a")).toEqual({ identity: "a", pool: "any", text: "a in any" });
    expect(store.poolsWanted).toEqual({ a: "any", b: "any" });
  });
});

describe("a job that goes to another pool", () => {
  test("is out until its node has let go, and all others stay as they are", async () => {
    const store = new SharedStore([ANY, GPU]);
    await applied(store, wishOf({ a: "any", b: "any" }));
    const seen: (string | undefined)[] = [];
    store.onLook = () => {
      seen.push(store.wanted.get("a")?.pool);
      expect(store.poolsWanted).toMatchObject({ b: "any" });
    };
    const { stayed, behind } = await applied(store, wishOf({ a: "gpu", b: "any" }));
    expect([stayed, behind]).toEqual([[], []]);
    expect([...new Set(seen)]).toEqual([undefined, "gpu"]);
  });

  test("goes on where it is while it runs, and moves when its run has ended in time", async () => {
    const store = new SharedStore([ANY, GPU]);
    await applied(store, wishOf({ a: "any" }));
    store.runs.add("a");
    let looks = 0;
    store.onLook = () => {
      looks += 1;
      if (looks === 4) store.runs.delete("a");
      if (looks < 4) expect(store.poolsWanted).toEqual({ a: "any" });
    };
    expect((await applied(store, wishOf({ a: "gpu" }))).stayed).toEqual([]);
    expect(store.poolsWanted).toEqual({ a: "gpu" });
  });

  test("stays where it was, as it was, when it runs for longer, and others move", async () => {
    const store = new SharedStore([ANY, GPU]);
    await applied(store, wishOf({ a: "any", b: "any" }));
    store.runs.add("a");
    const { stayed } = await applied(store, wishOf({ a: "gpu", b: "gpu" }));
    expect(stayed).toEqual([{ identity: "a", pool: "any", because: "it runs" }]);
    expect(store.wanted.get("a")?.text).toBe("a in any");
    expect(store.poolsWanted).toEqual({ a: "any", b: "gpu" });
  });

  test("goes back when a run of it began right before it was taken out", async () => {
    const store = new SharedStore([ANY, GPU]);
    await applied(store, wishOf({ a: "any" }));
    store.onLook = () => void store.runs.add("a");
    const { stayed } = await applied(store, wishOf({ a: "gpu" }));
    expect(stayed).toEqual([{ identity: "a", pool: "any", because: "it runs" }]);
    expect(store.poolsWanted).toEqual({ a: "any" });
  });

  test("goes back when its node does not let go", async () => {
    const store = new SharedStore([ANY, GPU]);
    await applied(store, wishOf({ a: "any" }));
    for (const node of store.nodes) node.slowness = NEVER;
    const { stayed } = await applied(store, wishOf({ a: "gpu" }));
    expect(stayed).toEqual([{ identity: "a", pool: "any", because: "its node has not let go" }]);
    expect(store.poolsWanted).toEqual({ a: "any" });
  });

  test("moves at once from a node that is gone, whatever the record says of its run", async () => {
    const store = new SharedStore([GPU]);
    await applied(store, wishOf({ a: "node/db1" }));
    store.runs.add("a");
    expect((await applied(store, wishOf({ a: "gpu" }))).stayed).toEqual([]);
    expect(store.poolsWanted).toEqual({ a: "gpu" });
  });
});

describe("an apply that was broken off while it moved a job", () => {
  async function brokenOff(): Promise<SharedStore> {
    const store = new SharedStore([{ ...ANY, slowness: 3 }, GPU]);
    await applied(store, wishOf({ a: "any", b: "any" }));
    const killed = new Error("killed");
    store.onLook = () => {
      if (!store.wanted.has("a")) throw killed;
    };
    await expect(applied(store, wishOf({ a: "gpu", b: "any" }))).rejects.toBe(killed);
    store.onLook = () => undefined;
    expect(store.poolsWanted).toEqual({ b: "any" });
    return store;
  }
  const wish = wishOf({ a: "gpu", b: "any" });

  test("is mended by the next one, after everybody has let go", async () => {
    const store = await brokenOff();
    expect(await applied(store, wish)).toMatchObject({ stayed: [], behind: [] });
    expect(store.poolsWanted).toEqual({ a: "gpu", b: "any" });
  });

  test("where its node does not let go the job stays out, and that is said", async () => {
    const store = await brokenOff();
    for (const node of store.nodes) node.slowness = NEVER;
    const { stayed } = await applied(store, wish);
    expect(stayed).toEqual([{ identity: "a", pool: null, because: "its node has not let go" }]);
    expect(store.poolsWanted).toEqual({ b: "any" });
  });

  test("where a run of it goes on it stays out until that has ended", async () => {
    const store = await brokenOff();
    store.runs.add("a");
    expect((await applied(store, wish)).stayed).toEqual([{ identity: "a", pool: null, because: "it runs" }]);
    store.runs.clear();
    expect((await applied(store, wish)).stayed).toEqual([]);
    expect(store.poolsWanted).toEqual({ a: "gpu", b: "any" });
  });
});

describe("two at once", () => {
  test("the second sees the first, and is written as a whole", async () => {
    const store = new SharedStore([ANY]);
    let writes = 0;
    store.onWrite = () => {
      writes += 1;
      if (writes === 1) store.writtenByOthers(wishOf({ other: "any" }));
    };
    const { compared, report } = await applyWish(store, wishOf({ a: "any" }), WAIT_MS);
    expect(compared.applied).toMatchObject({ added: ["a"], removed: ["other"] });
    expect([report.revision, store.poolsWanted]).toEqual([2, { a: "any" }]);
  });

  test("what somebody else has applied meanwhile is not taken back for a job that is still to move", async () => {
    const store = new SharedStore([{ ...ANY, slowness: 5 }, GPU]);
    await applied(store, wishOf({ a: "any" }));
    let isDone = false;
    store.onLook = () => {
      if (store.wanted.has("a") || isDone) return;
      isDone = true;
      store.writtenByOthers(wishOf({ a: "gpu", b: "any" }));
    };
    const { isOvertaken, stayed } = await applied(store, wishOf({ a: "gpu" }));
    expect([isOvertaken, stayed.map(({ pool }) => pool)]).toEqual([true, [null]]);
    expect(store.poolsWanted).toEqual({ b: "any" });
    await applied(store, wishOf({ a: "gpu", b: "any" }));
    expect(store.poolsWanted).toEqual({ a: "gpu", b: "any" });
  });
});

test("S50: whatever moves, runs and dawdles, no two nodes have a job, and none is left out", async () => {
  const pools = fc.constantFrom("any", "gpu", "node/db1");
  const sets = fc.array(fc.dictionary(fc.constantFrom("a", "b", "c"), pools), { minLength: 1, maxLength: 4 });
  const slowness = fc.array(fc.constantFrom(1, 2, 7, NEVER), { minLength: 2, maxLength: 2 });
  const runs = fc.array(fc.subarray(["a", "b", "c"]), { minLength: 1, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(sets, slowness, runs, async (all, [slow = 1, slower = 1], whatRuns) => {
      const store = new SharedStore([
        { ...ANY, slowness: slow },
        { ...GPU, slowness: slower },
      ]);
      let looks = 0;
      store.onLook = () => {
        store.runs.clear();
        // Of what nobody looks after nothing begins.
        for (const identity of whatRuns[looks % whatRuns.length] ?? [])
          if (store.wanted.has(identity)) store.runs.add(identity);
        looks += 1;
      };
      for (const set of all) {
        const { stayed } = await applied(store, wishOf(set), 3_000);
        const left = stayed.map(({ identity, pool }) => [identity, pool ?? "out"]);
        const expected = Object.entries({ ...set, ...Object.fromEntries(left) }).filter(([, pool]) => pool !== "out");
        expect(store.poolsWanted).toEqual(Object.fromEntries(expected));
      }
    }),
    { numRuns: 200 },
  );
});

test("pools that nobody serves are named, with what waits for them", () => {
  const { nodes } = new SharedStore([ANY]);
  const facts = nodes.map(({ name, pools }) => ({
    ...{ session: "", node: name, bootId: "", pid: 1, engine: "", tz: "", shards: [] },
    ...{ pools, isDraining: false, startedAt: 0, expiresAt: 0 },
  }));
  expect(unservedPools(wishOf({ a: "any", b: "node/db9", c: "gpu", d: "gpu" }), facts)).toEqual([
    { pool: "gpu", jobs: 2 },
    { pool: "node/db9", jobs: 1 },
  ]);
});
