/**
 * Time that only moves when a test says so: a clock, sleepers and timers over one queue. Owns three readings that real
 * machines also keep apart: the wall clock (may be set), the monotonic clock (never goes back) and the time during which
 * the process could run (stands still while it is frozen). Never sleeps for real.
 */
import { Temporal } from "temporal-polyfill";
import type { SchedulerClock, Sleeper } from "../types.js";
import type { Stamp } from "./trace.js";

/** Turns of the event loop without any activity after which everything that could run has run. */
const QUIET_TURNS = 3;
/** A program that never comes to rest at one instant is a bug of that program; say so instead of hanging. */
const MAX_TURNS_AT_ONE_INSTANT = 10_000;
const MAX_TIMERS_PER_ADVANCE = 1_000_000;
/** Real timers take at least this long as well. Without it a zero delay would never let virtual time pass. */
const SHORTEST_SLEEP_MS = 1;

/** Epoch milliseconds, an RFC 3339 text, or a civil date and time in the zone in force (`2026-03-29T01:59`). */
export type InstantLike = number | string;

export interface VirtualTimeOptions {
  readonly startAt: InstantLike;
  /** IANA id. Default: UTC. */
  readonly timeZone?: string;
}

type TimeChange =
  | { readonly kind: "Clock"; readonly from: number }
  | { readonly kind: "Zone"; readonly timeZone: string }
  | { readonly kind: "Pause"; readonly from: number };

export interface VirtualTime {
  readonly clock: SchedulerClock;
  readonly sleeper: Sleeper;
  /** A further sleeper on the same clock: one for each scheduler, because `wake()` wakes all sleeps of its sleeper. */
  newSleeper(): Sleeper;
  /** Both clocks at this moment. */
  stamp(): Stamp;
  /** Runs `action` once `ms` have passed; the returned function cancels it. */
  after(ms: number, action: () => void): () => void;
  /** Lets `ms` pass, stopping at every timer on the way and letting everything it causes happen. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until the wall clock reads `at`, which must not lie in the past. */
  advanceTo(at: InstantLike): Promise<void>;
  /** Sets the wall clock, forwards or backwards. No time passes: sleeps go on undisturbed. */
  setWallClock(at: InstantLike): Promise<void>;
  setTimeZone(timeZone: string): Promise<void>;
  /** Freezes the process: both clocks move on, nothing runs, and what came due meanwhile happens at the end. */
  pauseProcess(ms: number): Promise<void>;
  /** Waits until everything that can happen at this instant has happened. */
  settle(): Promise<void>;
  /** Told of every change that is not the plain passing of time, after it took effect. */
  onChange(listener: (change: TimeChange) => void): void;
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly action: () => void;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Reads an instant; a text without an offset is a civil time in `timeZone`. */
function readInstant(at: InstantLike, timeZone: string): number {
  if (typeof at === "number") return at;
  if (/(?:Z|[+-]\d{2}:?\d{2})$/i.test(at)) return Temporal.Instant.from(at).epochMilliseconds;
  return Temporal.PlainDateTime.from(at).toZonedDateTime(timeZone).epochMilliseconds;
}

class VirtualClockwork implements VirtualTime {
  readonly clock: SchedulerClock = { now: () => this.#wallNow(), timeZone: () => this.#timeZone };
  readonly sleeper: Sleeper = this.newSleeper();
  #monotonicMs = 0;
  #pausedMs = 0;
  /** Wall clock minus monotonic clock: what setting the clock changes. */
  #wallOffset: number;
  #timeZone: string;
  #order = 0;
  #activity = 0;
  readonly #timers: Timer[] = [];
  readonly #listeners: ((change: TimeChange) => void)[] = [];

  constructor(options: VirtualTimeOptions) {
    this.#timeZone = options.timeZone ?? "UTC";
    this.#wallOffset = readInstant(options.startAt, this.#timeZone);
  }

  stamp(): Stamp {
    return { at: this.#monotonicMs + this.#wallOffset, ranMs: this.#monotonicMs - this.#pausedMs };
  }

  newSleeper(): Sleeper {
    const pending = new Set<() => void>();
    const sleep = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const end = (): void => {
          pending.delete(end);
          cancel();
          resolve();
        };
        const cancel = this.after(Math.max(SHORTEST_SLEEP_MS, ms), end);
        pending.add(end);
      });
    const wake = (): void => {
      this.#activity++;
      for (const end of [...pending]) end();
    };
    return { sleep, wake };
  }

  after(ms: number, action: () => void): () => void {
    if (Number.isNaN(ms)) throw new TypeError("a virtual timer needs a number of milliseconds, not NaN");
    const timer: Timer = { dueMs: this.#monotonicMs + Math.max(0, ms), order: this.#order++, action };
    this.#activity++;
    this.#insert(timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }

  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`time cannot be advanced by ${ms} ms`);
    const target = this.#monotonicMs + ms;
    await this.settle();
    await this.#fireUntil(target);
    this.#monotonicMs = target;
    await this.settle();
  }

  async advanceTo(at: InstantLike): Promise<void> {
    await this.advance(readInstant(at, this.#timeZone) - this.stamp().at);
  }

  async setWallClock(at: InstantLike): Promise<void> {
    const from = this.stamp().at;
    this.#wallOffset += readInstant(at, this.#timeZone) - from;
    this.#changed({ kind: "Clock", from });
    await this.settle();
  }

  async setTimeZone(timeZone: string): Promise<void> {
    this.#timeZone = timeZone;
    this.#changed({ kind: "Zone", timeZone });
    await this.settle();
  }

  async pauseProcess(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`a process cannot be frozen for ${ms} ms`);
    const from = this.stamp().at;
    this.#monotonicMs += ms;
    this.#pausedMs += ms;
    this.#changed({ kind: "Pause", from });
    await this.#fireUntil(this.#monotonicMs);
    await this.settle();
  }

  async settle(): Promise<void> {
    let quietTurns = 0;
    for (let turn = 0; quietTurns < QUIET_TURNS; turn++) {
      if (turn > MAX_TURNS_AT_ONE_INSTANT) throw new Error("virtual time: the program never comes to rest");
      const before = this.#activity;
      await nextTurn();
      quietTurns = before === this.#activity ? quietTurns + 1 : 0;
    }
  }

  onChange(listener: (change: TimeChange) => void): void {
    this.#listeners.push(listener);
  }

  #wallNow(): number {
    this.#activity++;
    return this.stamp().at;
  }

  #changed(change: TimeChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Sorted by due time, then by age: ties happen in the order in which they were asked for. */
  #insert(timer: Timer): void {
    let index = this.#timers.length;
    while (index > 0 && (this.#timers[index - 1]?.dueMs ?? 0) > timer.dueMs) index--;
    this.#timers.splice(index, 0, timer);
  }

  async #fireUntil(target: number): Promise<void> {
    for (let fired = 0; ; fired++) {
      const next = this.#timers[0];
      if (next === undefined || next.dueMs > target) return;
      if (fired > MAX_TIMERS_PER_ADVANCE) {
        throw new Error(
          "virtual time: too many timers in one advance: does a task with a retry delay of 0 keep failing?",
        );
      }
      this.#timers.shift();
      this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
      next.action();
      await this.settle();
    }
  }
}

/**
 * A clock and a sleeper for `createScheduler` that obey the test.
 *
 * @example
 * ```ts
 * import { createScheduler, memoryStore } from "kron/scheduler";
 * import { virtualTime } from "kron/testing";
 *
 * const time = virtualTime({ startAt: "2026-03-29T01:59:30", timeZone: "Europe/Berlin" });
 * const scheduler = createScheduler({ clock: time.clock, sleeper: time.sleeper, store: memoryStore() });
 * let runs = 0;
 * await scheduler.initialize([["nightly", "30 2 * * *", async () => void runs++, 0]]);
 * await time.advanceTo("2026-03-29T23:59");
 * console.log(runs); // 0: 02:30 does not exist on this day
 * ```
 */
export function virtualTime(options: VirtualTimeOptions): VirtualTime {
  return new VirtualClockwork(options);
}
