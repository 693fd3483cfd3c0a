/**
 * A scheduler in a process of its own, to be killed. Arguments: directory, first reading of the clock, speed of the
 * clock, what callbacks do (`hang`, `end`, `brief`), names of tasks. Every event is one line of output, written before
 * anything else happens; `asleep` says that the first evaluation is over. Ends itself when its input ends.
 */
import { writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { createScheduler, type SchedulerEvent } from "../../../src/scheduler/index.js";

const [directory = "", startAt = "", speed = "1", behaviour = "end", cron = "0 0 * * *", ...names] =
  process.argv.slice(2);
const STDOUT = 1;

function say(line: object): void {
  writeSync(STDOUT, `${JSON.stringify(line)}\n`);
}

const began = performance.now();
let endSleep: AbortController | null = null;

const scheduler = createScheduler({
  directory,
  clock: { now: () => Date.parse(startAt) + (performance.now() - began) * Number(speed), timeZone: () => "UTC" },
  sleeper: {
    sleep: async (ms) => {
      say({ type: "asleep" });
      endSleep = new AbortController();
      await wait(ms / Number(speed), undefined, { signal: endSleep.signal }).catch(() => {});
    },
    wake: () => endSleep?.abort(),
  },
  onEvent: (event: SchedulerEvent) => say(event),
  logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
});

async function callback(): Promise<void> {
  if (behaviour === "hang") await new Promise(() => {});
  if (behaviour === "brief") await wait(2);
}

await scheduler.initialize(names.map((name) => [name, cron, callback, "PT1M"])).catch(() => process.exit(3));
process.stdin.resume();
process.stdin.on("end", () => void scheduler.stop().then(() => process.exit(0)));
