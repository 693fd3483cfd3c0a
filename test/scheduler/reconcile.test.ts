import { describe, expect, test } from "vitest";
import { memoryStore, type TaskRecord } from "../../src/scheduler/index.js";
import { type Reconciliation, reconcile } from "../../src/scheduler/reconcile.js";
import { readRegistrations, type TaskList } from "../../src/scheduler/registrations.js";
import { MONDAY, plainStore, quickTask, recordOf, recordsOf, rigs, settle, taskRecord } from "./support.js";

const MINUTE = 60_000;
/** In the middle of a minute. */
const NOW = MONDAY + 600_000 + 30_000;
const THIS_MINUTE = MONDAY + 600_000;
const run = async (): Promise<void> => {};

function listOf(...tasks: readonly (readonly [name: string, cron: string, retryDelayMs: number])[]): TaskList {
  const read = readRegistrations(
    tasks.map(([name, cron, delay]) => [name, cron, run, delay]),
    "posix",
  );
  if (!read.ok) throw read.error;
  return read.value;
}

function nameOf(raw: unknown): string | null {
  return (raw as { name?: string } | null)?.name ?? null;
}

function reconciled(stored: readonly unknown[], list: TaskList): Reconciliation {
  const entries = stored.map((raw) => ({ name: nameOf(raw), raw }));
  return reconcile(entries, list, { now: NOW, schedulerId: "new" });
}

const HISTORY = {
  cronSince: MONDAY - 1,
  lastAttemptAt: MONDAY + 1,
  lastSuccessAt: MONDAY + 2,
  lastFailureAt: MONDAY + 3,
  pendingRetryUntil: MONDAY + 4,
};
const KNOWN = taskRecord({ name: "a", cron: "0 * * * *", retryDelayMs: 5, ...HISTORY });
const NOBODY = { added: [], removed: [], modified: [], orphaned: [] };

describe("Override resolution: classification and new record", () => {
  test.each<[string, unknown[], TaskList, object, Partial<TaskRecord> | "unwritten"]>([
    ["new", [], listOf(["a", "0 * * * *", 5]), { added: ["a"] }, { cronSince: THIS_MINUTE - 1, lastAttemptAt: null }],
    ["preserved", [KNOWN], listOf(["a", "0 * * * *", 5]), {}, "unwritten"],
    [
      "overridden: retry delay, history and first sight kept",
      [KNOWN],
      listOf(["a", "0 * * * *", 6]),
      { modified: ["a"] },
      { ...KNOWN, retryDelayMs: 6 },
    ],
    [
      "overridden: expression, history kept, its past never fires",
      [KNOWN],
      listOf(["a", "1 * * * *", 5]),
      { modified: ["a"] },
      { ...KNOWN, cron: "1 * * * *", cronSince: THIS_MINUTE - 1 },
    ],
    [
      "overridden: the expression is compared as text",
      [KNOWN],
      listOf(["a", "0  * * * *", 5]),
      { modified: ["a"] },
      { cron: "0  * * * *" },
    ],
    [
      "orphaned: claimed in the new name (P26), owed by having no run",
      [{ ...KNOWN, runningBy: "dead" }],
      listOf(["a", "0 * * * *", 5]),
      { orphaned: ["a"] },
      { ...KNOWN, runningBy: "new" },
    ],
    [
      "orphaned with a new configuration is orphaned, and gets it",
      [{ ...KNOWN, runningBy: "dead" }],
      listOf(["a", "0 * * * *", 6]),
      { orphaned: ["a"] },
      { ...KNOWN, runningBy: "new", retryDelayMs: 6 },
    ],
    [
      "re-added within the minute in which it was attempted and removed",
      [taskRecord({ name: "a", lastAttemptAt: THIS_MINUTE + 1, removedAt: THIS_MINUTE + 2 })],
      listOf(["a", "0 * * * *", 5]),
      { added: ["a"] },
      { lastAttemptAt: THIS_MINUTE + 1, cronSince: THIS_MINUTE - 1, pendingRetryUntil: null },
    ],
  ])("%s", (_, stored, list, names, expected) => {
    const result = reconciled(stored, list);
    expect(result.names).toEqual({ ...NOBODY, ...names });
    expect(result.remove).toEqual([]);
    const written = result.put.find(({ name }) => name === "a") ?? "unwritten";
    expect(expected === "unwritten" ? written : { ...(written as TaskRecord), ...expected }).toEqual(written);
    expect(result.records[0]).toEqual(written === "unwritten" ? KNOWN : written);
  });

  test("removed: gone, with all its causes (P16)", () => {
    const result = reconciled([KNOWN, taskRecord({ name: "b", runningBy: "dead" })], listOf());
    expect(result).toMatchObject({ remove: ["a", "b"], put: [], names: { ...NOBODY, removed: ["a", "b"] } });
  });

  test("removed in the minute of its attempt: only the attempt is remembered, and only for that minute", () => {
    const attempted = { ...KNOWN, lastAttemptAt: THIS_MINUTE + 1, runningBy: "dead" };
    const result = reconciled([attempted], listOf());
    expect(result.names).toEqual({ ...NOBODY, removed: ["a"] });
    expect(result.put).toEqual([
      taskRecord({ name: "a", cronSince: NOW, lastAttemptAt: THIS_MINUTE + 1, removedAt: NOW }),
    ]);
    const stale = { ...result.put[0], lastAttemptAt: THIS_MINUTE - 1 };
    expect(reconciled([stale], listOf())).toMatchObject({ remove: ["a"], put: [], names: NOBODY });
    expect(reconciled(result.put, listOf())).toMatchObject({ remove: [], put: [], names: NOBODY });
  });

  test("every task is in exactly one class, and nothing is written twice", () => {
    const stored = [
      KNOWN,
      { ...KNOWN, name: "b" },
      { ...KNOWN, name: "c", runningBy: "dead" },
      { ...KNOWN, name: "d" },
    ];
    const result = reconciled(
      stored,
      listOf(["c", "0 * * * *", 5], ["a", "0 * * * *", 5], ["e", "0 * * * *", 5], ["b", "0 * * * *", 7]),
    );
    expect(result.names).toEqual({ added: ["e"], removed: ["d"], modified: ["b"], orphaned: ["c"] });
    expect(result.put.map(({ name }) => name).sort()).toEqual(["b", "c", "e"]);
    expect(result.records.map(({ name }) => name)).toEqual(["c", "a", "e", "b"]);
  });
});

describe("records that cannot be used as they are", () => {
  test.each<[string, object, Partial<TaskRecord>]>([
    ["only a name", { name: "a" }, { cronSince: THIS_MINUTE - 1, lastAttemptAt: null, cron: "0 * * * *" }],
    [
      "first sight missing: what was attempted counts",
      { name: "a", cron: "0 * * * *", retryDelayMs: 5, lastAttemptAt: MONDAY },
      { cronSince: MONDAY, lastAttemptAt: MONDAY, lastSuccessAt: null, lastFailureAt: null, pendingRetryUntil: null },
    ],
    ["an empty claim", { ...KNOWN, runningBy: null }, KNOWN],
    [
      "fields of a later version are kept",
      { ...KNOWN, lastFailureAt: undefined, colour: "red" },
      { lastFailureAt: null },
    ],
  ])("repaired: %s", (_, raw, expected) => {
    const result = reconciled([raw], listOf(["a", "0 * * * *", 5]));
    expect(result.names).toEqual(NOBODY);
    expect(result.quarantined).toEqual([]);
    expect(result.put[0]).toMatchObject(expected);
    expect(result.put[0]).not.toHaveProperty("runningBy");
    expect("colour" in raw).toBe("colour" in (result.put[0] ?? {}));
  });

  test.each<[string, unknown, string]>([
    ["a time that is no number", { ...KNOWN, lastAttemptAt: "yesterday" }, "TaskInvalidTypeError"],
    ["a time that is no instant", { ...KNOWN, cronSince: 0.5 }, "TaskInvalidValueError"],
    ["a negative delay", { ...KNOWN, retryDelayMs: -1 }, "TaskInvalidValueError"],
    ["an expression that is no text", { ...KNOWN, cron: 5 }, "TaskInvalidTypeError"],
    ["a claim that is no text", { ...KNOWN, runningBy: 7 }, "TaskInvalidTypeError"],
  ])("quarantined, and fenced: nothing up to now is owed: %s", (_, raw, error) => {
    const result = reconciled([raw], listOf(["a", "* * * * *", 5]));
    expect(result.quarantined.map((entry) => [entry.name, entry.error.name, entry.raw])).toEqual([["a", error, raw]]);
    expect(result.put).toEqual([taskRecord({ name: "a", retryDelayMs: 5, cronSince: NOW })]);
    expect(result.names).toEqual({ ...NOBODY, added: ["a"] });
  });

  test.each<[string, unknown, string]>([
    ["null", null, "TaskInvalidStructureError"],
    ["a text", "{broken", "TaskInvalidStructureError"],
    ["a list", [], "TaskInvalidStructureError"],
    ["no name", {}, "TaskMissingFieldError"],
    ["an empty name", { name: "" }, "TaskInvalidValueError"],
  ])("what names no task is reported and left alone: %s", (_, raw, error) => {
    const result = reconcile(
      [
        { name: nameOf(raw), raw },
        { name: "a", raw: KNOWN },
      ],
      listOf(["a", "0 * * * *", 5]),
      {
        now: NOW,
        schedulerId: "new",
      },
    );
    expect(result.quarantined.map((entry) => [entry.name, entry.error.name])).toEqual([[null, error]]);
    expect([result.put, result.remove]).toEqual([[], []]);
  });

  test("of two records of one task the first counts", () => {
    const result = reconciled([KNOWN, { ...KNOWN, lastAttemptAt: 1 }], listOf(["a", "0 * * * *", 5]));
    expect(result.quarantined.map(({ name, error }) => [name, error.name])).toEqual([
      ["a", "TaskInvalidStructureError"],
    ]);
    expect(result.put).toEqual([KNOWN]);
  });
});

describe("override resolution at work", () => {
  const rig = rigs();

  test.each([
    ["memory store", (records: readonly TaskRecord[]) => memoryStore(records)],
    ["plain store", (records: readonly TaskRecord[]) => plainStore(records)],
  ])("an unreadable record is set aside, its task and all others go on: %s", async (_, make) => {
    const bad = { ...taskRecord({ name: "bad" }), lastAttemptAt: "yesterday" } as unknown as TaskRecord;
    const stray = { colour: "red" } as unknown as TaskRecord;
    const store = make([bad, stray, taskRecord({ name: "good" })]);
    const { host, scheduler, of } = rig(MONDAY + 5 * MINUTE, { store });
    const [one, other] = [quickTask(host.clock.now), quickTask(host.clock.now)];
    await scheduler.initialize([
      ["bad", "* * * * *", one.callback, 0],
      ["good", "* * * * *", other.callback, 0],
    ]);
    expect(of("TaskRecordQuarantined").map(({ name, error, record }) => [name, (error as Error).name, record])).toEqual(
      expect.arrayContaining([
        ["bad", "TaskInvalidTypeError", bad],
        [null, "TaskMissingFieldError", stray],
      ]),
    );
    await host.advance(MINUTE);
    expect(one.starts).toEqual([MONDAY + 6 * MINUTE]);
    expect(other.starts).toEqual([MONDAY + 5 * MINUTE, MONDAY + 6 * MINUTE]);
    expect(await recordsOf(store)).toContainEqual(stray);
  });

  test.each([
    ["memory store", () => memoryStore()],
    ["plain store", () => plainStore()],
  ])("removing and re-adding a task inside one minute does not run it twice: %s", async (_, make) => {
    const store = make();
    const { host, scheduler } = rig(MONDAY + 10_000, { store });
    const task = quickTask(host.clock.now);
    for (const list of [
      [["a", "* * * * *", task.callback, 0] as const],
      [],
      [["a", "* * * * *", task.callback, 0] as const],
    ]) {
      await scheduler.initialize(list);
      await host.advance(10_000);
      await scheduler.stop();
    }
    expect(task.starts).toEqual([MONDAY + 10_000]);
  });

  test("P16: a pending retry is forgotten when the task is absent from one list", async () => {
    const { host, scheduler, store } = rig(MONDAY);
    const task = quickTask(host.clock.now, true);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 5 * MINUTE]]);
    await settle();
    await scheduler.stop();
    host.now = MONDAY + MINUTE;
    await scheduler.initialize([]);
    await scheduler.stop();
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 5 * MINUTE]]);
    await host.advance(60 * MINUTE);
    expect(task.starts).toEqual([MONDAY]);
    expect((await recordOf(store, "a")).pendingRetryUntil).toBeNull();
  });

  test("P18: a pending retry survives a stop and fires at its time", async () => {
    const { host, scheduler } = rig(MONDAY);
    const task = quickTask(host.clock.now, true);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 5 * MINUTE]]);
    await settle();
    await scheduler.stop();
    host.now = MONDAY + 2 * MINUTE;
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 5 * MINUTE]]);
    await host.advanceTo(MONDAY + 6 * MINUTE);
    expect(task.starts).toEqual([MONDAY, MONDAY + 5 * MINUTE]);
  });

  test("a changed expression that matches now runs now, unless the task was attempted in this minute", async () => {
    const { host, scheduler } = rig(MONDAY);
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await settle();
    await scheduler.stop();
    await scheduler.initialize([["a", "0-59 * * * *", task.callback, 0]]);
    await host.advance(MINUTE - 1);
    expect(task.starts).toEqual([MONDAY]);
    await scheduler.stop();
    host.now = MONDAY + 30 * MINUTE + 1;
    await scheduler.initialize([["a", "30 0 * * *", task.callback, 0]]);
    await settle();
    expect(task.starts).toEqual([MONDAY, MONDAY + 30 * MINUTE + 1]);
  });

  test("a changed expression never fires its past", async () => {
    const attempted = { cronSince: MONDAY - 86_400_000, lastAttemptAt: MONDAY - 43_200_000 };
    const store = memoryStore([taskRecord({ name: "a", cron: "0 12 * * *", ...attempted })]);
    const { host, scheduler } = rig(MONDAY + 600 * MINUTE + 1, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "0 9 * * *", task.callback, 0]]);
    await host.advance(60 * MINUTE);
    expect(task.starts).toEqual([]);
  });

  test("a task whose first occurrence was missed by downtime is owed it once", async () => {
    const store = memoryStore();
    const first = rig(MONDAY + 1, { store });
    await first.scheduler.initialize([["a", "5 0 * * *", async () => {}, 0]]);
    await first.scheduler.stop();
    const { host, scheduler } = rig(MONDAY + 10 * MINUTE, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "5 0 * * *", task.callback, 0]]);
    await host.advance(10 * MINUTE);
    expect(task.starts).toEqual([MONDAY + 10 * MINUTE]);
  });
});
