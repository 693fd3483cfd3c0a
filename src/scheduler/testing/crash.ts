/**
 * A process that dies, without a process: everything a scheduler was given is put behind a switch, and a crash turns it
 * off. The abandoned instance is left to whatever it still believes; nothing of it gets through any more.
 */
import type { Scheduler, SchedulerClock, SchedulerOptions, Sleeper, TaskStore } from "../types.js";
import { type CarryOut, tapStore } from "./store-tap.js";

export type CreateScheduler = (options: SchedulerOptions) => Scheduler;

/** The ports that must be given, because cutting them off is the point. */
export type CrashableOptions = SchedulerOptions & {
  readonly clock: SchedulerClock;
  readonly sleeper: Sleeper;
  readonly store: TaskStore;
};

/**
 * `gone`: a killed process; nothing reaches the store any more. `zombie`: a process that was taken for dead, for example
 * a machine that froze; callbacks that were running still end, and their completions still reach the store (P26).
 */
export type CrashMode = "gone" | "zombie";

type CrashNews = "crashed" | "late-write";

interface Switch {
  state: "alive" | CrashMode;
  diedAt: number;
  readonly clock: SchedulerClock;
  readonly listeners: ((news: CrashNews) => void)[];
}

const switches = new WeakMap<Scheduler, Switch>();

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

function tell(power: Switch, news: CrashNews): void {
  for (const listener of power.listeners) listener(news);
}

/** A transaction counts only if its instance is alive when it takes effect; a zombie's completions get through. */
function cutStore(store: TaskStore, power: Switch): TaskStore {
  /** What was under way when the instance died may still take effect; nobody is left to hear how it went. */
  const heard = async <T>(carryOut: CarryOut<T>): Promise<T> => {
    try {
      const outcome = await carryOut();
      return power.state === "alive" ? outcome : never();
    } catch (error) {
      if (power.state !== "alive") return never();
      throw error;
    }
  };
  const late = <T>(carryOut: CarryOut<T>): Promise<T> =>
    carryOut({
      changes: (change) => {
        if (change.changesAnything()) tell(power, "late-write");
        return true;
      },
    });
  return tapStore(store, {
    around: (carryOut) => {
      if (power.state === "gone") return never();
      return power.state === "zombie" ? late(carryOut) : heard(carryOut);
    },
    admits: () => power.state !== "gone",
  });
}

function cutSleeper(sleeper: Sleeper, power: Switch): Sleeper {
  return {
    sleep: async (ms) => {
      if (power.state === "alive") await sleeper.sleep(ms);
      if (power.state !== "alive") await never();
    },
    wake: () => {
      if (power.state === "alive") sleeper.wake();
    },
  };
}

/**
 * A scheduler that `crash` can kill. `create` is `createScheduler`.
 *
 * @example
 * ```ts
 * import { createScheduler, memoryStore } from "kron/scheduler";
 * import { controlledTask, crash, crashable, virtualTime } from "kron/testing";
 *
 * const time = virtualTime({ startAt: "2026-01-01T00:00:30Z" });
 * const store = memoryStore();
 * const report = controlledTask(time);
 * const boot = () => crashable(createScheduler, { clock: time.clock, sleeper: time.newSleeper(), store });
 * const first = boot();
 * await first.initialize([["report", "0 * * * *", report.callback, 0]]);
 * await time.advanceTo("2026-01-01T01:00:10Z");
 * crash(first); // in the middle of the run of 01:00
 * await time.advanceTo("2026-01-01T01:20:00Z");
 * await boot().initialize([["report", "0 * * * *", report.callback, 0]]);
 * await time.advance(60_000);
 * console.log(report.runs.length); // 2: what was cut off is run again at once, and once
 * ```
 */
export function crashable(create: CreateScheduler, options: CrashableOptions): Scheduler {
  const { clock, sleeper, store, onEvent } = options;
  const power: Switch = { state: "alive", diedAt: 0, clock, listeners: [] };
  const isAlive = (): boolean => power.state === "alive";
  const scheduler = create({
    ...options,
    clock: { now: () => (isAlive() ? clock.now() : power.diedAt), timeZone: () => clock.timeZone() },
    sleeper: cutSleeper(sleeper, power),
    store: cutStore(store, power),
    ...(onEvent === undefined ? {} : { onEvent: (event) => void (isAlive() && onEvent(event)) }),
  });
  switches.set(scheduler, power);
  return scheduler;
}

function switchOf(scheduler: Scheduler): Switch {
  const power = switches.get(scheduler);
  if (power === undefined) throw new Error("only a scheduler made by crashable() can be crashed");
  return power;
}

/** Kills a crashable scheduler at this very point. A second crash does nothing. */
export function crash(scheduler: Scheduler, mode: CrashMode = "gone"): void {
  const power = switchOf(scheduler);
  if (power.state !== "alive") return;
  power.diedAt = power.clock.now();
  power.state = mode;
  tell(power, "crashed");
}

export function hasCrashed(scheduler: Scheduler): boolean {
  return (switches.get(scheduler)?.state ?? "alive") !== "alive";
}

/** Makes `wrapper` crash together with the scheduler it wraps, and hear of it. Nothing happens if that cannot crash. */
export function followCrash(wrapper: Scheduler, scheduler: Scheduler, listener: (news: CrashNews) => void): void {
  const power = switches.get(scheduler);
  if (power === undefined) return;
  power.listeners.push(listener);
  switches.set(wrapper, power);
}
