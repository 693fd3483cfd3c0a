/**
 * The simplest scheduler that keeps all promises: one list, one scan of all records at every look, no index, no chart.
 * A second subject, so that the checker is not a portrait of the first.
 */
import { isValidExpression, namedMinutes } from "../../../../src/scheduler/testing/check/civil-minutes.js";
import type { CrashableOptions } from "../../../../src/scheduler/testing/index.js";
import type {
  Callback,
  Registration,
  Scheduler,
  SchedulerOptions,
  TaskRecord,
  TaskStore,
} from "../../../../src/scheduler/types.js";

const MINUTE_MS = 60_000;
/** Nothing in a test lies further back. */
const LOOK_BACK_MS = 4 * 86_400_000;

interface Task {
  readonly name: string;
  readonly cron: string;
  readonly callback: Callback;
  readonly retryDelayMs: number;
}

interface Session {
  id: string;
  readonly tasks: readonly Task[];
  /** No stop was called. */
  isOpen: boolean;
  loop: Promise<void>;
}

function floorToMinute(at: number): number {
  return Math.floor(at / MINUTE_MS) * MINUTE_MS;
}

function readTasks(registrations: readonly Registration[]): readonly Task[] {
  if (!Array.isArray(registrations)) throw new Error("not a list");
  const names = new Set<string>();
  return registrations.map((entry: Registration) => {
    const [name, cron, callback, retryDelayMs] = entry;
    const isValid = entry.length === 4 && name !== "" && !names.has(name) && isValidExpression(cron);
    if (!isValid || typeof retryDelayMs !== "number" || retryDelayMs < 0) throw new Error("invalid registration");
    names.add(name);
    return { name, cron, callback, retryDelayMs };
  });
}

function merge({ name, cron, retryDelayMs }: Task, known: TaskRecord | undefined, now: number, id: string): TaskRecord {
  const cronSince = floorToMinute(now) - 1;
  const never = { lastAttemptAt: null, lastSuccessAt: null, lastFailureAt: null, pendingRetryUntil: null };
  if (known === undefined) return { name, cron, retryDelayMs, cronSince, ...never };
  if (known.removedAt !== undefined) {
    return { name, cron, retryDelayMs, cronSince, ...never, lastAttemptAt: known.lastAttemptAt };
  }
  const since = known.cron === cron ? known.cronSince : cronSince;
  return {
    ...known,
    cron,
    retryDelayMs,
    cronSince: since,
    ...(known.runningBy === undefined ? {} : { runningBy: id }),
  };
}

class NaiveScheduler implements Scheduler {
  readonly #options: CrashableOptions;
  readonly #store: TaskStore;
  /** Calls happen one after the other. */
  #line: Promise<void> = Promise.resolve();
  /** The stretch from the latest `initialize` to its `stop`; null: it failed, or there was none. */
  #session: Session | null = null;
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: CrashableOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  async initialize(registrations: readonly Registration[]): Promise<void> {
    if (this.#session?.isOpen) throw new Error("already active");
    const session: Session = { id: "", tasks: readTasks(registrations), isOpen: true, loop: Promise.resolve() };
    this.#session = session;
    const done = this.#line.then(() => this.#begin(session));
    this.#line = done.catch(() => {
      session.isOpen = false;
    });
    await done;
  }

  stop(): Promise<void> {
    const session = this.#session;
    if (session?.isOpen) {
      session.isOpen = false;
      this.#line = this.#line.then(() => this.#end(session));
    }
    return this.#line;
  }

  async #begin(session: Session): Promise<void> {
    session.id = this.#options.newId?.() ?? "naive";
    const now = this.#options.clock.now();
    await this.#store.transact((records) => {
      const known = (name: string): TaskRecord | undefined => records.find((record) => record.name === name);
      const listed = session.tasks.map((task) => merge(task, known(task.name), now, session.id));
      const names = new Set(session.tasks.map((task) => task.name));
      const isRecent = (record: TaskRecord): boolean => (record.lastAttemptAt ?? 0) >= floorToMinute(now);
      const gone = records.filter((record) => !names.has(record.name) && isRecent(record));
      return { records: [...listed, ...gone.map((record) => ({ ...record, removedAt: now }))], result: undefined };
    });
    // One macrotask later, so that whoever waits for this call goes first.
    session.loop = new Promise((resolve) => setImmediate(resolve)).then(() => this.#poll(session));
  }

  async #end(session: Session): Promise<void> {
    this.#options.sleeper.wake();
    await session.loop;
    await Promise.all(this.#running.values());
  }

  async #poll(session: Session): Promise<void> {
    while (session.isOpen) {
      const claimed = await this.#claim(session).catch(() => []);
      const unbegun = claimed.filter((record) => !this.#runIfOpen(session, record));
      if (unbegun.length > 0) await this.#tryTo(() => this.#giveBack(unbegun));
      if (session.isOpen) await this.#options.sleeper.sleep(this.#untilNextLook());
    }
  }

  #untilNextLook(): number {
    const now = this.#options.clock.now();
    return Math.min(floorToMinute(now) + MINUTE_MS - now, 20_000);
  }

  async #claim({ id }: Session): Promise<readonly TaskRecord[]> {
    const now = this.#options.clock.now();
    return this.#store.transact((records) => {
      const owed = records.filter((record) => this.#isOwed(record, now));
      const claim = (record: TaskRecord): TaskRecord => ({
        ...record,
        lastAttemptAt: Math.max(record.lastAttemptAt ?? now, now),
        pendingRetryUntil: null,
        runningBy: id,
      });
      return { records: records.map((record) => (owed.includes(record) ? claim(record) : record)), result: owed };
    });
  }

  #isOwed(record: TaskRecord, now: number): boolean {
    if (record.removedAt !== undefined || this.#running.has(record.name)) return false;
    if (record.runningBy !== undefined) return true;
    if (record.pendingRetryUntil !== null && record.pendingRetryUntil <= now) return true;
    const settled = Math.max(record.lastAttemptAt ?? 0, record.cronSince, now - LOOK_BACK_MS);
    return namedMinutes(record.cron, this.#options.clock.timeZone(), settled, now).length > 0;
  }

  async #giveBack(claimed: readonly TaskRecord[]): Promise<void> {
    await this.#store.transact((records) => ({
      records: records.map((record) => claimed.find(({ name }) => name === record.name) ?? record),
      result: undefined,
    }));
  }

  /** A callback may stop the scheduler while others are about to start. */
  #runIfOpen(session: Session, record: TaskRecord): boolean {
    const { isOpen } = session;
    if (isOpen) this.#run(session, record);
    return isOpen;
  }

  #run({ id, tasks }: Session, { name }: TaskRecord): void {
    const task = tasks.find((candidate) => candidate.name === name);
    if (task === undefined) return;
    const failed = async (): Promise<boolean> => {
      try {
        await task.callback();
        return false;
      } catch {
        return true;
      }
    };
    const run = failed().then(async (hasFailed) => {
      const endedAt = this.#options.clock.now();
      await this.#tryTo(() => this.#complete(task, id, endedAt, hasFailed));
      this.#running.delete(name);
    });
    this.#running.set(name, run);
  }

  async #complete(task: Task, id: string, endedAt: number, hasFailed: boolean): Promise<void> {
    const until = hasFailed ? endedAt + task.retryDelayMs : null;
    await this.#store.transact((records) => {
      const isOurs = records.some((record) => record.name === task.name && record.runningBy === id);
      if (!isOurs) return { result: undefined };
      const rest = ({ runningBy: _, ...record }: TaskRecord): TaskRecord => ({ ...record, pendingRetryUntil: until });
      return {
        records: records.map((record) => (record.name === task.name ? rest(record) : record)),
        result: undefined,
      };
    });
  }

  /** A store that fails is asked again; when it does not come back, the record tells the next instance. */
  async #tryTo(action: () => Promise<void>): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        await action();
        return;
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
}

export function createNaiveScheduler(options: SchedulerOptions): Scheduler {
  return new NaiveScheduler(options as CrashableOptions);
}
