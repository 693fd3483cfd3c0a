// A nightly backup that fails, is retried, misses three nights because no process is there, and is made up for once.
// Days pass in milliseconds, because clock and sleep are those of the test kit.
// In your own project: import ... from "kron/scheduler" and "kron/testing".
import assert from "node:assert/strict";
import { createScheduler, memoryStore } from "../dist/scheduler.js";
import { controlledTask, virtualTime } from "../dist/testing.js";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const time = virtualTime({ startAt: "2026-03-01T12:00", timeZone: "Europe/Berlin" });
const store = memoryStore(); // what a disk would be: it survives the scheduler
const starts = [];

function schedule() {
  return createScheduler({
    clock: time.clock,
    sleeper: time.newSleeper(),
    store,
    logger: quiet,
    onEvent: (event) => {
      if (event.type === "TaskRunStarted") starts.push(`${new Date(event.at).toISOString()} ${event.cause}`);
      if (event.type === "TaskRetryStarted") starts.push(`${new Date(event.at).toISOString()} retry`);
    },
  });
}

const backup = controlledTask(time);
backup.will("fail", { takesMs: 20 * 60_000, ending: "succeed" });
backup.otherwise("succeed");
const tasks = [["backup", "0 3 * * *", backup.callback, "PT10M"]];

const scheduler = schedule();
await scheduler.initialize(tasks);
await time.advanceTo("2026-03-02T12:00");
await scheduler.stop();

await time.advanceTo("2026-03-05T08:15"); // three nights without a process

const successor = schedule();
await successor.initialize(tasks);
await time.advanceTo("2026-03-06T12:00");
await successor.stop();

console.log(starts.join("\n"));
assert.deepEqual(starts, [
  "2026-03-02T02:00:00.000Z cron", // 03:00 in Berlin: it fails ...
  "2026-03-02T02:10:00.000Z retry", // ... and is tried again ten minutes after its end
  "2026-03-05T07:15:00.000Z cron", // three missed nights are one run, as soon as a process is back
  "2026-03-06T02:00:00.000Z cron",
]);
