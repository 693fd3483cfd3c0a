/** Scenarios that chance would seldom find: each plays one awkward moment on purpose. */
import type { ListedTask, Scenario, Step } from "./scenario.js";

export interface Script extends Scenario {
  readonly name: string;
}

const MINUTE_MS = 60_000;
const EVERY_MINUTE: ListedTask = { name: "a", cron: "* * * * *", delayMs: 0 };
const HOURLY: ListedTask = { name: "a", cron: "0 * * * *", delayMs: 300_000 };
const OTHER: ListedTask = { name: "b", cron: "0 0 30 2 *", delayMs: 0 };

/** Noon in UTC, half a minute early. List 0 holds the task; list 1 what comes in its place, or another task. */
function script(name: string, task: ListedTask, steps: readonly Step[], replacement = OTHER): Script {
  return {
    name,
    place: { timeZone: "UTC", startAt: "2026-06-15T11:59:30Z" },
    offersByName: true,
    lists: [[task], [replacement], [task]],
    otherwise: ["succeed", "succeed", "succeed"],
    steps,
  };
}

const INIT: Step = { do: "initialize", list: 0, onNewObject: false };
const REPLACE: Step = { do: "initialize", list: 1, onNewObject: false };
const STOP: Step = { do: "stop" };
const HANG: Step = { do: "outcomes", task: "a", outcomes: ["hang"] };
const FAIL: Step = { do: "outcomes", task: "a", outcomes: ["fail"] };
const NEXT_MINUTE: Step = { do: "advanceToMinute", minutes: 1, offsetMs: 0 };
const SUCCEED: Step = { do: "end", task: "a", how: "succeed" };
const CRASH: Step = { do: "crash", mode: "gone" };
const ZOMBIE: Step = { do: "crash", mode: "zombie" };

function advance(minutes: number): Step {
  return { do: "advance", ms: minutes * MINUTE_MS };
}

function jump(minutes: number): Step {
  return { do: "jump", ms: minutes * MINUTE_MS };
}

export const SCRIPTS: readonly Script[] = [
  script("an orphan is restarted after the clock went back, and its past is not repeated", EVERY_MINUTE, [
    INIT,
    advance(10),
    HANG,
    NEXT_MINUTE,
    CRASH,
    jump(-8),
    INIT,
    advance(12),
  ]),
  script("a task is removed and added again within the minute of its run", EVERY_MINUTE, [
    INIT,
    NEXT_MINUTE,
    STOP,
    REPLACE,
    STOP,
    INIT,
    advance(2),
  ]),
  script("removed, and everything dies, and added again within the minute", HOURLY, [
    INIT,
    NEXT_MINUTE,
    CRASH,
    REPLACE,
    CRASH,
    INIT,
    advance(2),
  ]),
  script("the run of a dead instance ends before its restart could be written", HOURLY, [
    HANG,
    INIT,
    NEXT_MINUTE,
    ZOMBIE,
    { do: "failStore", nth: 2, count: 1, point: "before-commit" },
    INIT,
    SUCCEED,
    advance(2),
  ]),
  script("the run of a dead instance ends during its restart", HOURLY, [
    HANG,
    INIT,
    NEXT_MINUTE,
    ZOMBIE,
    advance(1),
    INIT,
    SUCCEED,
    HANG,
    advance(60),
    SUCCEED,
    SUCCEED,
  ]),
  script("stop is called while a claim is being written", HOURLY, [
    INIT,
    { do: "slowStore", count: 1, ms: 40_000 },
    NEXT_MINUTE,
    STOP,
    advance(2),
    INIT,
    advance(2),
  ]),
  script("a callback stops the scheduler", EVERY_MINUTE, [
    INIT,
    { do: "stopFromCallback", task: "a" },
    NEXT_MINUTE,
    advance(2),
    INIT,
    advance(2),
  ]),
  script("the process dies while a claim is being taken back", HOURLY, [
    INIT,
    { do: "slowStore", count: 2, ms: 40_000 },
    NEXT_MINUTE,
    STOP,
    advance(1),
    CRASH,
    INIT,
    advance(2),
  ]),
  script("a claim becomes durable and is reported as failed", HOURLY, [
    INIT,
    { do: "failStore", nth: 1, count: 1, point: "after-commit" },
    NEXT_MINUTE,
    advance(3),
    CRASH,
    INIT,
    advance(2),
  ]),
  script(
    "a claim becomes durable and is reported as failed, and the list changes",
    HOURLY,
    [INIT, { do: "failStore", nth: 1, count: 1, point: "after-commit" }, NEXT_MINUTE, STOP, REPLACE, advance(2)],
    { ...HOURLY, cron: "0 0 30 2 *" },
  ),
  script("the process dies between claim and start", HOURLY, [
    INIT,
    { do: "crashAt", nth: 1, point: "after-commit" },
    NEXT_MINUTE,
    advance(5),
    INIT,
    advance(2),
  ]),
  script("a claim that failed before it was durable, and the process dies", HOURLY, [
    HANG,
    INIT,
    { do: "failStore", nth: 1, count: 3, point: "before-commit" },
    NEXT_MINUTE,
    CRASH,
    INIT,
    advance(2),
  ]),
  script("the store fails for a while, and is back", EVERY_MINUTE, [
    INIT,
    NEXT_MINUTE,
    { do: "failStore", nth: 1, count: 7, point: "before-commit" },
    advance(5),
  ]),
  script("the end of a failed run cannot be written", HOURLY, [
    FAIL,
    INIT,
    { do: "failStore", nth: 2, count: 3, point: "before-commit" },
    NEXT_MINUTE,
    advance(8),
  ]),
  script("stop and initialize during an initialisation that takes its time", EVERY_MINUTE, [
    { do: "slowStore", count: 1, ms: 40_000 },
    INIT,
    STOP,
    INIT,
    advance(5),
  ]),
  script("four hours of downtime", HOURLY, [INIT, CRASH, advance(245), INIT, advance(2)]),
  script("a run longer than its period fails", EVERY_MINUTE, [
    { do: "outcomes", task: "a", outcomes: [{ takesMs: 150_000, ending: "fail" }] },
    INIT,
    advance(10),
  ]),
  script("an occurrence during a run that fails, and a long delay", { ...HOURLY, delayMs: 5_400_000 }, [
    { do: "outcomes", task: "a", outcomes: [{ takesMs: 4_200_000, ending: "fail" }] },
    INIT,
    advance(300),
  ]),
  script(
    "the expression changes while a retry is pending",
    HOURLY,
    [FAIL, INIT, NEXT_MINUTE, STOP, REPLACE, advance(10)],
    { ...HOURLY, cron: "0 0 30 2 *" },
  ),
  script("the delay changes while an occurrence is pending", HOURLY, [INIT, CRASH, advance(10), REPLACE, advance(2)], {
    ...HOURLY,
    delayMs: 0,
  }),
  script("a task is away when its occurrence is pending", HOURLY, [
    INIT,
    CRASH,
    advance(10),
    REPLACE,
    STOP,
    INIT,
    advance(2),
  ]),
  script("a task is first seen in a minute that its expression names", HOURLY, [NEXT_MINUTE, INIT, advance(3)]),
  script("the clock jumps over an occurrence while the loop sleeps", HOURLY, [INIT, jump(45), advance(3)]),
  script("the list is the same, the callback is not", HOURLY, [INIT, STOP, INIT, NEXT_MINUTE, STOP, INIT, advance(61)]),
  script("the clock goes back while nothing is due", EVERY_MINUTE, [INIT, NEXT_MINUTE, jump(-1), advance(3)]),
  script("the zone changes while the loop sleeps", { ...HOURLY, cron: "0 9 * * *" }, [
    INIT,
    { do: "travel", timeZone: "America/New_York" },
    advance(70),
  ]),
];
