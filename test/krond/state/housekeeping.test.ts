/** S36: the ledger is kept within its bounds, shard by shard where a daemon has only some of it. */
import { expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { type Sweep, startHousekeeping } from "../../../src/krond/state/housekeeping.js";
import { keyRanges } from "../../../src/persist/key-range.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { StateStore } from "../../../src/persist/store.js";
import { requireOk } from "../../support/results.js";

const START = Date.parse("2026-03-01T00:00:00Z");
const IDENTITIES = ["a", "b", "c", "d", "e", "f"];

async function swept(sweepsOf: (store: StateStore, drops: number[]) => readonly Sweep[], maxRecords: number) {
  const disk = new MemoryDisk();
  const term = requireOk(acquireMemoryLock(disk));
  const store = requireOk(openMemoryStore(term, disk));
  const ledger = IDENTITIES.flatMap((identity) => {
    return Array.from({ length: 250 }, (_, index) => ({
      identity,
      at: START - index * MINUTE_MS,
      kind: "run",
      text: "{}",
    }));
  });
  await store.commit(term, { ledger });
  const drops: number[] = [];
  const clock = new SimulatedClock({ startAt: START });
  const failures: unknown[] = [];
  const stop = startHousekeeping({
    clock,
    term,
    sweeps: () => sweepsOf(store, drops),
    ledger: () => ({ maxAgeMs: HOUR_MS * 24, maxRecords }),
    mayStart: () => true,
    onFailure: (error) => failures.push(error),
  });
  await clock.advanceAsync(10 * MINUTE_MS);
  stop();
  expect(failures).toEqual([]);
  const kept = IDENTITIES.map((identity) => disk.ledger.get(identity)?.size ?? 0);
  return { kept, drops };
}

/** What a store is asked to drop as a whole. */
function counted(store: StateStore, drops: number[], name: number): StateStore {
  return new Proxy(store, {
    get: (target, key) => {
      if (key === "dropLedger") {
        return async () => drops.push(name);
      }
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("a daemon that is alone sweeps all of it, each job by its share", async () => {
  const { kept, drops } = await swept(
    (store, seen) => [{ store: counted(store, seen, 0), dropsOld: true, jobs: () => 6 }],
    900,
  );
  expect([kept, drops]).toEqual([[150, 150, 150, 150, 150, 150], [0]]);
});

test("a node sweeps its shards one after another, each by its part of what may be kept, and drops old months once", async () => {
  const { kept, drops } = await swept((store, seen) => {
    return keyRanges(4).map((range, number) => {
      const view = counted(store.inRange(range), seen, number);
      return { store: view, dropsOld: number === 0, jobs: () => 1.5 };
    });
  }, 900);
  expect([kept, drops]).toEqual([[150, 150, 150, 150, 150, 150], [0]]);
});

test("shards of others stay as they are", async () => {
  const { kept } = await swept((store) => {
    const [first] = keyRanges(2);
    return first === undefined ? [] : [{ store: store.inRange(first), dropsOld: false, jobs: () => 3 }];
  }, 600);
  expect(kept.filter((count) => count === 250).length).toBeGreaterThan(0);
  expect(kept.filter((count) => count === 100).length).toBeGreaterThan(0);
});
