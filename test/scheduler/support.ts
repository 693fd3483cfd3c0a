/** A host whose time moves only when a test says so, and schedulers on it. */
import { afterEach } from "vitest";
import {
  createScheduler,
  memoryStore,
  type Scheduler,
  type SchedulerEvent,
  type SchedulerLogger,
  type SchedulerOptions,
  type TaskRecord,
  type TaskStore,
} from "../../src/scheduler/index.js";

export const silentLogger: SchedulerLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** 2026-01-05 is a Monday. */
export const MONDAY = Date.parse("2026-01-05T00:00:00Z");

export function at(text: string): number {
  return Date.parse(text);
}

/** Everything that can happen without time passing has happened. */
export async function settle(turns = 8): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Only promise jobs: no timer, no I/O. */
export async function microtasks(): Promise<void> {
  for (let job = 0; job < 200; job++) await Promise.resolve();
}

interface Sleep {
  readonly until: number;
  readonly end: () => void;
}

export class VirtualHost {
  now: number;
  timeZone: string;
  /** Lengths of all sleeps asked for, in order. */
  readonly sleeps: number[] = [];
  #sleep: Sleep | null = null;

  constructor(startAt: number, timeZone = "UTC") {
    this.now = startAt;
    this.timeZone = timeZone;
  }

  readonly clock = { now: () => this.now, timeZone: () => this.timeZone };

  readonly sleeper = {
    sleep: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        if (this.#sleep !== null) throw new Error("two sleeps at a time");
        this.sleeps.push(ms);
        this.#sleep = { until: this.now + Math.max(1, ms), end: resolve };
      }),
    wake: () => this.#endSleep(),
  };

  get isAsleep(): boolean {
    return this.#sleep !== null;
  }

  /** Lets time pass, stopping wherever the loop wants to be woken. */
  async advanceTo(until: number): Promise<void> {
    await settle();
    while (this.#sleep !== null && this.#sleep.until <= until) {
      this.now = Math.max(this.now, this.#sleep.until);
      this.#endSleep();
      await settle();
    }
    this.now = Math.max(this.now, until);
    await settle();
  }

  advance(ms: number): Promise<void> {
    return this.advanceTo(this.now + ms);
  }

  /** The host was suspended, or its clock set: the sleep under way ends late, or early. */
  async jumpTo(now: number): Promise<void> {
    await settle();
    this.now = now;
    this.#endSleep();
    await settle();
  }

  /** Ends the sleep now and lets only promise jobs run. */
  async wakeAt(now: number): Promise<void> {
    this.now = now;
    this.#endSleep();
    await microtasks();
  }

  #endSleep(): void {
    const sleep = this.#sleep;
    this.#sleep = null;
    sleep?.end();
  }
}

export interface Rig {
  readonly host: VirtualHost;
  readonly store: TaskStore;
  readonly scheduler: Scheduler;
  readonly events: SchedulerEvent[];
  types(): readonly string[];
  of<Type extends SchedulerEvent["type"]>(type: Type): readonly Extract<SchedulerEvent, { type: Type }>[];
}

export interface RigOptions extends SchedulerOptions {
  readonly host?: VirtualHost;
}

/** Makes schedulers, and stops at the end of each test those that still run. */
export function rigs(): (startAt: number, options?: RigOptions) => Rig {
  const made: Scheduler[] = [];
  afterEach(async () => {
    await Promise.all(made.splice(0).map((scheduler) => scheduler.stop()));
  });
  return (startAt, { host = new VirtualHost(startAt), ...options } = {}) => {
    const events: SchedulerEvent[] = [];
    const store = options.store ?? memoryStore();
    const scheduler = createScheduler({
      clock: host.clock,
      sleeper: host.sleeper,
      logger: silentLogger,
      onEvent: (event) => void events.push(event),
      ...options,
      store,
    });
    made.push(scheduler);
    const of = <Type extends SchedulerEvent["type"]>(type: Type) =>
      events.filter((event): event is Extract<SchedulerEvent, { type: Type }> => event.type === type);
    return { host, store, scheduler, events, types: () => events.map((event) => event.type), of };
  };
}

export function recordsOf(store: TaskStore): Promise<readonly TaskRecord[]> {
  return store.transact((records) => ({ result: records }));
}

export async function recordOf(store: TaskStore, name: string): Promise<TaskRecord> {
  const record = (await recordsOf(store)).find((candidate) => candidate.name === name);
  if (record === undefined) throw new Error(`no record of ${name}`);
  return record;
}

/** A callback that notes when it was called, and ends when it is told to. */
export function manualTask(now: () => number) {
  const starts: number[] = [];
  const open: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  const callback = (): Promise<void> => {
    starts.push(now());
    return new Promise((resolve, reject) => open.push({ resolve, reject }));
  };
  return {
    callback,
    starts,
    succeed: () => open.shift()?.resolve(),
    fail: (error: unknown = new Error("no luck")) => open.shift()?.reject(error),
  };
}

/** A callback that ends at once, well or badly. */
export function quickTask(now: () => number, fails = false) {
  const starts: number[] = [];
  const callback = async (): Promise<void> => {
    starts.push(now());
    if (fails) throw new Error("no luck");
  };
  return { callback, starts };
}

/** What any user might write: no `byName`, everything copied, nothing kept. */
export function plainStore(initial: readonly unknown[] = []): TaskStore & { readonly text: () => string } {
  let text = JSON.stringify(initial);
  return {
    text: () => text,
    transact: async (update) => {
      const { records, result } = update(JSON.parse(text) as TaskRecord[]);
      if (records !== undefined) text = JSON.stringify(records);
      return result;
    },
  };
}

export function taskRecord(changes: Partial<TaskRecord> & { readonly name: string }): TaskRecord {
  return {
    cron: "* * * * *",
    retryDelayMs: 0,
    cronSince: MONDAY - 1,
    lastAttemptAt: null,
    lastSuccessAt: null,
    lastFailureAt: null,
    pendingRetryUntil: null,
    ...changes,
  };
}
