import { describe, expect, test } from "vitest";
import { memoryStore, type Registration, type TaskRecord, type TaskStore } from "../../src/scheduler/index.js";
import { SCHEDULER_LIMITS } from "../../src/scheduler/limits.js";
import { MONDAY, plainStore, recordsOf, rigs, settle } from "./support.js";

const rig = rigs();
const MINUTE = 60_000;
const PORTION = SCHEDULER_LIMITS.tasksPerTransaction;
const TASKS = 2 * PORTION + 500;

interface Seen {
  /** For each transaction that wrote: how many claims, how many ends, and how many callbacks had been called before. */
  readonly writes: [claims: number, ends: number, startedBefore: number][];
  readonly starts: Map<string, number>;
  /** Number of the transaction, counted from now, that fails. */
  failAt: number;
}

function isClaim(record: TaskRecord): boolean {
  return record.runningBy !== undefined;
}

/** A store that says what it writes, and fails when told to. */
function watched(inner: TaskStore, seen: Seen): TaskStore {
  const { byName } = inner;
  if (byName === undefined) throw new Error("a store with single records is needed");
  return {
    ...inner,
    byName: {
      revision: () => byName.revision(),
      transact: (update) => {
        seen.failAt--;
        if (seen.failAt === 0) return Promise.reject(new Error("disk full"));
        return byName.transact((view) => {
          const changes = update(view);
          const put = changes.put ?? [];
          const claims = put.filter(isClaim).length;
          if (put.length > 0) seen.writes.push([claims, put.length - claims, seen.starts.size]);
          return changes;
        });
      },
    },
  };
}

/** Names whose order is not that of the list. */
function nameOf(i: number): string {
  return `${(i * 7) % 10}-${i}`;
}

function scene({ onStart = () => {} }: { onStart?: () => unknown } = {}) {
  const seen: Seen = { writes: [], starts: new Map(), failAt: 0 };
  const store = watched(memoryStore(), seen);
  const made = rig(MONDAY + 1, { store });
  const list = Array.from({ length: TASKS }, (_, i): Registration => {
    const run = async (): Promise<void> => {
      seen.starts.set(nameOf(i), (seen.starts.get(nameOf(i)) ?? 0) + 1);
      onStart();
    };
    return [nameOf(i), "1 0 * * *", run, 0];
  });
  return { ...made, seen, store, list };
}

function startsOf({ starts }: Seen): readonly unknown[] {
  return [starts.size, new Set(starts.values())];
}

describe("many tasks due at once", () => {
  test("are claimed in portions, each of which starts before the next is claimed; the ends follow in portions", async () => {
    const { host, scheduler, seen, list } = scene();
    await scheduler.initialize(list);
    await settle();
    seen.writes.length = 0;
    await host.advanceTo(MONDAY + MINUTE);
    expect(seen.writes).toEqual([
      [PORTION, 0, 0],
      [PORTION, 0, PORTION],
      [500, 0, 2 * PORTION],
      [0, PORTION, TASKS],
      [0, PORTION, TASKS],
      [0, 500, TASKS],
    ]);
    expect(startsOf(seen)).toEqual([TASKS, new Set([1])]);
  });

  test("start in the order of their names, whatever the order of the list", async () => {
    const { host, scheduler, seen, list } = scene();
    await scheduler.initialize(list);
    await host.advanceTo(MONDAY + MINUTE);
    expect([...seen.starts.keys()]).toEqual(list.map(([name]) => name).sort());
  });

  test("when the second portion cannot be claimed: the first has run, the rest runs once when the store is back", async () => {
    const { host, scheduler, seen, list, of } = scene();
    await scheduler.initialize(list);
    await settle();
    seen.failAt = 2;
    await host.advanceTo(MONDAY + MINUTE);
    expect(startsOf(seen)).toEqual([PORTION, new Set([1])]);
    await host.advance(MINUTE);
    expect(startsOf(seen)).toEqual([TASKS, new Set([1])]);
    expect(of("StoreFailed").map(({ operation }) => operation)).toEqual(["claim"]);
  });

  test("when a callback stops the scheduler: nothing further starts or is claimed, and nothing is lost (P4, P18)", async () => {
    const stops: Promise<void>[] = [];
    const { host, scheduler, seen, store, list } = scene({
      onStart: () => stops.length > 0 || stops.push(scheduler.stop()),
    });
    await scheduler.initialize(list);
    await settle();
    seen.writes.length = 0;
    await host.advanceTo(MONDAY + MINUTE);
    await Promise.all(stops);
    expect([seen.starts.size, seen.writes.map(([claims]) => claims)]).toEqual([1, [PORTION, 0, 0]]);
    expect((await recordsOf(store)).filter(isClaim)).toEqual([]);
    await scheduler.initialize(list);
    await host.advance(MINUTE);
    expect(startsOf(seen)).toEqual([TASKS, new Set([1])]);
  });

  test("when the zone changes: every task is looked at again, in portions, and what is due then starts once", async () => {
    const { host, scheduler, seen, list } = scene();
    await scheduler.initialize(list);
    await settle();
    host.timeZone = "Etc/GMT-1";
    await host.advanceTo(MONDAY + 23 * 60 * MINUTE + MINUTE - 1);
    expect(seen.starts.size).toBe(0);
    await host.advance(1);
    expect(startsOf(seen)).toEqual([TASKS, new Set([1])]);
  });

  test("stop writes every end, however many portions there are, and gives up only after failures", async () => {
    const seen: Seen = { writes: [], starts: new Map(), failAt: 0 };
    const store = watched(memoryStore(), seen);
    const { host, scheduler } = rig(MONDAY + 1, { store });
    const open: (() => void)[] = [];
    const run = (): Promise<void> => new Promise((resolve) => open.push(resolve));
    const names = Array.from({ length: 5 * PORTION }, (_, i) => nameOf(i));
    await scheduler.initialize(names.map((name): Registration => [name, "1 0 * * *", run, 0]));
    await host.advanceTo(MONDAY + MINUTE);
    seen.writes.length = 0;
    seen.failAt = 2;
    const stopped = scheduler.stop();
    for (const end of open) end();
    await stopped;
    expect(seen.writes.map(([, ends]) => ends)).toEqual(Array.from({ length: 5 }, () => PORTION));
    expect((await recordsOf(store)).filter(isClaim)).toEqual([]);
  });

  test("share one transaction in a store that writes everything each time", async () => {
    const inner = plainStore();
    let writes = 0;
    const store: TaskStore = {
      transact: (update) =>
        inner.transact((records) => {
          const change = update(records);
          if (change.records !== undefined) writes++;
          return change;
        }),
    };
    const { host, scheduler } = rig(MONDAY + 1, { store });
    const list = Array.from({ length: TASKS }, (_, i): Registration => [nameOf(i), "1 0 * * *", async () => {}, 0]);
    await scheduler.initialize(list);
    await settle();
    writes = 0;
    await host.advanceTo(MONDAY + MINUTE);
    expect(writes).toBe(2);
  });
});
