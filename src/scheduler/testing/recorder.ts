/**
 * Writes down what a scheduler was asked and what it did, in one total order, without taking part in it. Sees a
 * scheduler from outside only: the two methods, the callbacks, the store, the events, the clock.
 */
import type { Callback, Registration, Scheduler, SchedulerEvent, TaskStore } from "../types.js";
import { followCrash, hasCrashed } from "./crash.js";
import { readRegistrations } from "./registrations.js";
import { type StoreTap, tapStore } from "./store-tap.js";
import type { Stamp, Trace, TraceAction } from "./trace.js";
import type { VirtualTime } from "./virtual-time.js";

type Unstamped<T> = T extends Stamp ? Omit<T, keyof Stamp> : never;
type NewAction = Unstamped<TraceAction>;

export interface TraceRecorder {
  /** The same scheduler, with everything recorded. Crash the returned one, or the one given: it is the same. */
  watch(scheduler: Scheduler): Scheduler;
  /** The same store; without it, ends of runs count as durable when the scheduler says so. */
  store(store: TaskStore): TaskStore;
  /** For `createScheduler({ onEvent })`. */
  readonly onEvent: (event: SchedulerEvent) => void;
  readonly events: readonly SchedulerEvent[];
  /** Everything up to now. May be taken again later. */
  trace(): Trace;
}

interface OpenTransaction {
  readonly began: Stamp;
  /** The life of the process it belongs to: a crash closes what it left open. */
  readonly life: number;
}

/** The process may have been frozen meanwhile: then only the wall clock shows it. */
function tookTime(began: Stamp, ended: Stamp): boolean {
  return began.ranMs !== ended.ranMs || began.at !== ended.at;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error);
}

class Recorder implements TraceRecorder {
  readonly events: SchedulerEvent[] = [];
  readonly #time: VirtualTime;
  readonly #start: Stamp;
  readonly #timeZone: string;
  readonly #actions: TraceAction[] = [];
  readonly #transactions = new Set<OpenTransaction>();
  /** Tasks whose run has ended in this life, and whose record has not been seen at rest since. */
  readonly #unsaved = new Set<string>();
  #calls = 0;
  #life = 0;
  #watchesStore = false;

  constructor(time: VirtualTime) {
    this.#time = time;
    this.#start = time.stamp();
    this.#timeZone = time.clock.timeZone();
    time.onChange((change) => this.#add(change));
  }

  readonly onEvent = (event: SchedulerEvent): void => {
    this.events.push(event);
    const isEnd = event.type === "TaskRunCompleted" || event.type === "TaskRunFailed";
    if (isEnd && !this.#watchesStore) this.#saved(event.name);
  };

  watch(scheduler: Scheduler): Scheduler {
    const isDead = (): boolean => hasCrashed(scheduler);
    const watched: Scheduler = {
      initialize: (registrations) => this.#initialize(scheduler, registrations, isDead),
      stop: () => this.#stop(scheduler, isDead),
    };
    followCrash(watched, scheduler, (news) =>
      news === "crashed" ? this.#crashed() : this.#add({ kind: "LateWrite" }),
    );
    return watched;
  }

  store(store: TaskStore): TaskStore {
    this.#watchesStore = true;
    const around: StoreTap["around"] = async (carryOut) => {
      const transaction: OpenTransaction = { began: this.#time.stamp(), life: this.#life };
      let resting: readonly string[] = [];
      let isOwnFault = false;
      this.#transactions.add(transaction);
      try {
        const result = await carryOut({
          changes: (change) => {
            resting = change.restingAfter(this.#unsaved);
            return true;
          },
          threw: () => {
            isOwnFault = true;
          },
        });
        for (const name of resting) this.#saved(name);
        return result;
      } catch (error) {
        if (!isOwnFault && transaction.life === this.#life) this.#add({ kind: "StoreFailed" });
        throw error;
      } finally {
        this.#closed(transaction);
      }
    };
    return tapStore(store, { around });
  }

  trace(): Trace {
    const end = this.#time.stamp();
    const open = [...this.#transactions].filter((transaction) => tookTime(transaction.began, end));
    const slow = open.map(({ began }): TraceAction => ({ kind: "StoreSlow", began, ...end }));
    return { timeZone: this.#timeZone, start: this.#start, actions: [...this.#actions, ...slow], end };
  }

  #add(action: NewAction): void {
    this.#actions.push({ ...action, ...this.#time.stamp() } as TraceAction);
  }

  #saved(name: string): void {
    if (this.#unsaved.delete(name)) this.#add({ kind: "Saved", task: name });
  }

  #closed(transaction: OpenTransaction): void {
    const isOpen = this.#transactions.delete(transaction);
    if (isOpen && tookTime(transaction.began, this.#time.stamp())) {
      this.#add({ kind: "StoreSlow", began: transaction.began });
    }
  }

  #crashed(): void {
    for (const transaction of [...this.#transactions]) this.#closed(transaction);
    this.#unsaved.clear();
    this.#life++;
    this.#add({ kind: "Crash" });
  }

  async #initialize(
    scheduler: Scheduler,
    registrations: readonly Registration[],
    isDead: () => boolean,
  ): Promise<void> {
    if (isDead()) return scheduler.initialize(registrations);
    const call = ++this.#calls;
    this.#add({ kind: "IS", call, ...readRegistrations(registrations) });
    try {
      await scheduler.initialize(this.#wrapAll(registrations, call, isDead));
      if (!isDead()) this.#add({ kind: "IEs", call });
    } catch (error) {
      if (!isDead()) this.#add({ kind: "IEf", call, reason: reasonOf(error) });
      throw error;
    }
  }

  async #stop(scheduler: Scheduler, isDead: () => boolean): Promise<void> {
    if (isDead()) return scheduler.stop();
    const call = ++this.#calls;
    this.#add({ kind: "SS", call });
    await scheduler.stop();
    if (!isDead()) this.#add({ kind: "SE", call });
  }

  /** Callbacks are replaced only where there is one: a malformed list must arrive as it is. */
  #wrapAll(registrations: readonly Registration[], call: number, isDead: () => boolean): readonly Registration[] {
    if (!Array.isArray(registrations)) return registrations;
    return registrations.map((entry: Registration) => {
      if (!Array.isArray(entry) || typeof entry[2] !== "function") return entry;
      const [name, cron, callback, ...rest] = entry;
      const recorded = (): unknown => this.#run(String(name), call, callback, isDead);
      return [name, cron, recorded, ...rest] as unknown as Registration;
    });
  }

  /** Not an async function: a callback that throws before it returns must look so to the scheduler as well. */
  #run(task: string, call: number, callback: Callback, isDead: () => boolean): unknown {
    if (isDead()) return callback();
    this.#add({ kind: "RS", task, call });
    const ended = (end: NewAction): void => {
      if (isDead()) return;
      this.#unsaved.add(task);
      this.#add(end);
    };
    const failed = (error: unknown): never => {
      ended({ kind: "REf", task, reason: reasonOf(error) });
      throw error;
    };
    try {
      return Promise.resolve(callback()).then(() => ended({ kind: "REs", task }), failed);
    } catch (error) {
      return failed(error);
    }
  }
}

/**
 * Records a trace of the schedulers, stores and virtual time it is shown.
 *
 * @example
 * ```ts
 * import { createScheduler, memoryStore } from "kron/scheduler";
 * import { checkTrace, formatTrace, traceRecorder, virtualTime } from "kron/testing";
 *
 * const time = virtualTime({ startAt: "2026-01-01T08:59:30Z" });
 * const recorder = traceRecorder(time);
 * const scheduler = recorder.watch(
 *   createScheduler({
 *     clock: time.clock,
 *     sleeper: time.sleeper,
 *     store: recorder.store(memoryStore()),
 *     onEvent: recorder.onEvent,
 *   }),
 * );
 * await scheduler.initialize([["report", "0 9 * * *", async () => {}, 0]]);
 * await time.advance(60_000);
 * console.log(formatTrace(recorder.trace())); // IS IEs RS REs
 * console.log(checkTrace(recorder.trace()).length); // 0
 * ```
 */
export function traceRecorder(time: VirtualTime): TraceRecorder {
  return new Recorder(time);
}
