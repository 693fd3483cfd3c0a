/**
 * Keys that need a look: each at most once at a time and once in waiting, urgent ones first, never more than so many
 * under way. A key that is added while it is being worked on is worked on again.
 */
import type { Clock, Timer } from "../actors/clock.js";

export type Urgency = "urgent" | "calm";

interface Delayed {
  readonly urgency: Urgency;
  readonly dueMs: number;
  readonly timer: Timer;
}

export class WorkQueue {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #work: (key: string) => Promise<void>;
  readonly #ready: Readonly<Record<Urgency, Set<string>>> = { urgent: new Set(), calm: new Set() };
  readonly #delayed = new Map<string, Delayed>();
  /** Since when. */
  readonly #running = new Map<string, number>();
  readonly #again = new Map<string, Urgency>();
  #isClosed = false;
  #onIdle: (() => void)[] = [];

  constructor(clock: Clock, limit: number, work: (key: string) => Promise<void>) {
    this.#clock = clock;
    this.#limit = limit;
    this.#work = work;
  }

  get depth(): number {
    return this.#ready.urgent.size + this.#ready.calm.size + this.#delayed.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Of the work that has been under way the longest; 0: nothing is. */
  get longestMs(): number {
    const [sinceMs] = this.#running.values();
    return sinceMs === undefined ? 0 : this.#clock.monotonicMs() - sinceMs;
  }

  add(key: string, urgency: Urgency, delayMs = 0): void {
    if (this.#isClosed) return;
    if (delayMs > 0) {
      this.#delay(key, urgency, delayMs);
      return;
    }
    this.#undelay(key);
    if (this.#running.has(key)) {
      if (this.#again.get(key) !== "urgent") this.#again.set(key, urgency);
      return;
    }
    if (urgency === "urgent") this.#ready.calm.delete(key);
    if (urgency === "urgent" || !this.#ready.urgent.has(key)) this.#ready[urgency].add(key);
    this.#pump();
  }

  /** Nothing is to be done about it after all. */
  remove(key: string): void {
    this.#undelay(key);
    this.#ready.urgent.delete(key);
    this.#ready.calm.delete(key);
    this.#again.delete(key);
  }

  /** Nothing new is begun; resolves when what is under way has ended. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    this.#ready.urgent.clear();
    this.#ready.calm.clear();
    this.#again.clear();
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((done) => this.#onIdle.push(done));
  }

  /** Asked for twice, it comes at the earlier time and with the greater urgency. */
  #delay(key: string, wanted: Urgency, delayMs: number): void {
    const known = this.#delayed.get(key);
    const urgency = known?.urgency === "urgent" ? "urgent" : wanted;
    const dueMs = Math.min(this.#clock.monotonicMs() + delayMs, known?.dueMs ?? Number.POSITIVE_INFINITY);
    if (known?.dueMs === dueMs && known.urgency === urgency) return;
    known?.timer.cancel();
    const timer = this.#clock.after(dueMs - this.#clock.monotonicMs(), () => {
      this.#delayed.delete(key);
      this.add(key, urgency);
    });
    this.#delayed.set(key, { urgency, dueMs, timer });
  }

  #undelay(key: string): void {
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
  }

  #pump(): void {
    while (this.#running.size < this.#limit) {
      const key = first(this.#ready.urgent) ?? first(this.#ready.calm);
      if (key === undefined) return;
      this.#ready.urgent.delete(key);
      this.#ready.calm.delete(key);
      this.#running.set(key, this.#clock.monotonicMs());
      void this.#work(key).finally(() => this.#ended(key));
    }
  }

  #ended(key: string): void {
    this.#running.delete(key);
    const again = this.#again.get(key);
    this.#again.delete(key);
    if (again !== undefined) this.add(key, again);
    this.#pump();
    if (this.#running.size > 0) return;
    for (const done of this.#onIdle) done();
    this.#onIdle = [];
  }
}

function first(keys: ReadonlySet<string>): string | undefined {
  for (const key of keys) return key;
  return undefined;
}
