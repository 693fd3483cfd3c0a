import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { rewoundRecord } from "../../src/scheduler/ahead.js";
import { lmdbStore, memoryStore, rewindTasks, type TaskRecord } from "../../src/scheduler/index.js";
import { temporaryDirectories } from "../support/temporary.js";
import { at, MONDAY, quickTask, recordOf, recordsOf, rigs, settle, taskRecord } from "./support.js";

const rig = rigs();
const temporary = temporaryDirectories();
const MINUTE = 60_000;
const AHEAD = at("2036-01-05T00:00:00Z");

/** Seen and run once by a clock that ran ten years ahead. */
async function leftBehind(fails = false) {
  const store = memoryStore();
  const first = rig(AHEAD, { store });
  await first.scheduler.initialize([["a", "* * * * *", quickTask(first.host.clock.now, fails).callback, "PT5M"]]);
  await settle();
  await first.scheduler.stop();
  return store;
}

describe("records ahead of the clock", () => {
  test("are told of at initialize, with the tasks and until when they are silent", async () => {
    const store = await leftBehind();
    const { host, scheduler, of } = rig(MONDAY, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([
      ["a", "* * * * *", task.callback, "PT5M"],
      ["b", "* * * * *", () => {}, "PT5M"],
    ]);
    await host.advance(60 * MINUTE);
    expect(of("TaskRecordsAhead")).toEqual([{ type: "TaskRecordsAhead", at: MONDAY, names: ["a"], untilAt: AHEAD }]);
    expect(task.starts).toEqual([]);
  });

  test.each(["cronSince", "lastAttemptAt", "lastSuccessAt", "lastFailureAt"])(
    "whatever they remember: %s",
    async (field) => {
      const store = memoryStore([taskRecord({ name: "a", [field]: MONDAY + 2 * MINUTE })]);
      const { scheduler, of } = rig(MONDAY, { store });
      await scheduler.initialize([["a", "* * * * *", () => {}, 0]]);
      expect(of("TaskRecordsAhead").map(({ names }) => names)).toEqual([["a"]]);
    },
  );

  test("a clock that was corrected a little, or a retry that is due later, is no news", async () => {
    const near = taskRecord({ name: "a", lastAttemptAt: MONDAY + MINUTE, pendingRetryUntil: AHEAD });
    const { scheduler, of } = rig(MONDAY, { store: memoryStore([near]) });
    await scheduler.initialize([["a", "* * * * *", () => {}, 0]]);
    expect(of("TaskRecordsAhead")).toEqual([]);
  });
});

describe("rewindTasks", () => {
  test.each([false, true])("what is rewound counts from now on, and nothing runs twice (failed: %s)", async (fails) => {
    const store = await leftBehind(fails);
    expect(await rewindTasks(store, MONDAY + 30_000)).toEqual(["a"]);
    const { host, scheduler, of } = rig(MONDAY + 30_000, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "0,10 0 * * *", task.callback, "PT5M"]]);
    await host.advance(20 * MINUTE);
    expect(of("TaskRecordsAhead")).toEqual([]);
    const retries = fails ? [MONDAY + 30_000 + 5 * MINUTE] : [];
    expect(task.starts).toEqual([...retries, MONDAY + 10 * MINUTE]);
  });

  test("changes nothing that is not ahead, nor what it cannot read, nor what is no longer listed", async () => {
    const past = taskRecord({ name: "past", lastAttemptAt: MONDAY - 5, pendingRetryUntil: AHEAD });
    const broken = { name: "broken", lastAttemptAt: "soon" } as unknown as TaskRecord;
    const gone = taskRecord({ name: "gone", lastAttemptAt: AHEAD, removedAt: AHEAD });
    const store = memoryStore([past, broken, gone]);
    expect(await rewindTasks(store, MONDAY)).toEqual([]);
    expect(await recordOf(store, "past")).toEqual(past);
    expect(await recordsOf(store)).toContainEqual(broken);
    expect(rewoundRecord(past, MONDAY)).toBe(past);
  });

  test("lets go of the store, and is refused while a scheduler holds it", async () => {
    const directory = path.join(temporary(), "store");
    const { scheduler } = rig(MONDAY, { store: lmdbStore(directory) });
    await scheduler.initialize([["a", "0 0 30 2 *", () => {}, 0]]);
    await expect(rewindTasks(lmdbStore(directory), MONDAY)).rejects.toMatchObject({ code: "lock-held" });
    await scheduler.stop();
    expect(await rewindTasks(lmdbStore(directory), MONDAY - MINUTE)).toEqual(["a"]);
    expect(await rewindTasks(lmdbStore(directory), MONDAY - MINUTE)).toEqual([]);
  });

  test.each([Number.NaN, 1.5])("refuses what is no instant: %s", async (now) => {
    await expect(rewindTasks(memoryStore(), now)).rejects.toThrow("not an instant");
  });
});
