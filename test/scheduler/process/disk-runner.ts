/**
 * A scheduler on the default store in a process of its own, whose disk is made to fail. Arguments: directory, number of
 * tasks, all of which are due every minute. Every event is one line of output; each line of input is a minute of its
 * clock. Ends itself when its input ends: with 0, because nothing that the disk does may end it earlier.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { createScheduler, type Registration } from "../../../src/scheduler/index.js";

const [directory = "", count = "1"] = process.argv.slice(2);
const STDOUT = 1;

function say(line: object): void {
  writeSync(STDOUT, `${JSON.stringify(line)}\n`);
}

let now = Date.parse("2026-01-05T00:00:30Z");
let endSleep = (): void => {};

const scheduler = createScheduler({
  directory,
  clock: { now: () => now, timeZone: () => "UTC" },
  sleeper: {
    sleep: () =>
      new Promise((resolve) => {
        endSleep = resolve;
        say({ type: "asleep" });
      }),
    wake: () => endSleep(),
  },
  onEvent: (event) => say("error" in event ? { ...event, error: String(event.error) } : event),
  logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
});
const tasks = Array.from(
  { length: Number(count) },
  (_, i): Registration => [`a task whose name takes some room on the disk ${i}`, "* * * * *", () => {}, "PT1M"],
);

const input = createInterface({ input: process.stdin });
input.on("line", () => {
  now += 60_000;
  endSleep();
});
await scheduler.initialize(tasks).catch((error: Error) => say({ type: "refused", message: error.message }));
input.on("close", () => void scheduler.stop().then(() => say({ type: "stopped" })));
