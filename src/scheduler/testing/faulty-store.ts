/**
 * A store that misbehaves on command: transactions that fail before or after they took effect, that take their time, or
 * at which something happens, such as a crash. Keeps them serialised, as every store must.
 */
import type { TaskStore } from "../types.js";
import { type CarryOut, tapStore } from "./store-tap.js";
import type { VirtualTime } from "./virtual-time.js";

export type TransactionPoint = "before-commit" | "after-commit";

export interface FaultyStore extends TaskStore {
  /**
   * The next `count` transactions reject. Before the commit: all has been computed, and nothing is written. After it is
   * beyond the contract of a store, and happens all the same: a disk may report the failure of a change that survives.
   */
  failNext(count: number, point?: TransactionPoint): void;
  /** The `nth` coming transaction rejects (1 is the next). */
  failAt(nth: number, point?: TransactionPoint): void;
  /** The next `count` transactions wait `ms` before they take effect. */
  delayNext(count: number, ms: number): void;
  /** Calls `action` around the `nth` coming transaction: before anything is computed, or when it is durable. */
  at(nth: number, point: TransactionPoint, action: () => void): void;
  /** Forgets all faults that have not happened yet. */
  heal(): void;
  /** How many transactions have begun. */
  transactions(): number;
}

interface PlannedFaults {
  readonly fails?: TransactionPoint;
  readonly delayMs: number;
  readonly before: readonly (() => void)[];
  readonly after: readonly (() => void)[];
}

/** The error of an injected fault. */
export class InjectedStoreError extends Error {
  override readonly name = "InjectedStoreError";
  constructor(point: TransactionPoint) {
    super(`injected store failure, ${point.replace("-", " ")}`);
  }
}

/** What is still going to happen to the transactions to come. */
class FaultPlan {
  count = 0;
  readonly #failures = new Map<number, TransactionPoint>();
  #delays = { count: 0, ms: 0 };
  #points: { readonly at: number; readonly point: TransactionPoint; readonly action: () => void }[] = [];

  fail(nth: number, point: TransactionPoint): void {
    this.#failures.set(this.count + nth, point);
  }

  delay(count: number, ms: number): void {
    this.#delays = { count, ms };
  }

  at(nth: number, point: TransactionPoint, action: () => void): void {
    this.#points.push({ at: this.count + nth, point, action });
  }

  heal(): void {
    this.#failures.clear();
    this.#delays = { count: 0, ms: 0 };
    this.#points = [];
  }

  next(): PlannedFaults {
    this.count++;
    const here = this.#points.filter((point) => point.at === this.count);
    this.#points = this.#points.filter((point) => point.at > this.count);
    const actions = (point: TransactionPoint): (() => void)[] =>
      here.filter((entry) => entry.point === point).map((entry) => entry.action);
    const fails = this.#failures.get(this.count);
    this.#failures.delete(this.count);
    return {
      ...(fails === undefined ? {} : { fails }),
      delayMs: this.#delays.count > 0 && this.#delays.count-- > 0 ? this.#delays.ms : 0,
      before: actions("before-commit"),
      after: actions("after-commit"),
    };
  }
}

async function carryOutWith<T>(carryOut: CarryOut<T>, faults: PlannedFaults, time?: VirtualTime): Promise<T> {
  if (time !== undefined && faults.delayMs > 0) {
    await new Promise<void>((resolve) => {
      time.after(faults.delayMs, resolve);
    });
  }
  for (const action of faults.before) action();
  const result = await carryOut({ changes: () => faults.fails !== "before-commit" });
  if (faults.fails === "before-commit") throw new InjectedStoreError(faults.fails);
  for (const action of faults.after) action();
  if (faults.fails === "after-commit") throw new InjectedStoreError(faults.fails);
  return result;
}

/**
 * Wraps a store so that a test can make it fail, wait, or crash the scheduler that uses it.
 *
 * @example
 * ```ts
 * import { createScheduler, memoryStore } from "kron/scheduler";
 * import { faultyStore, virtualTime } from "kron/testing";
 *
 * const time = virtualTime({ startAt: "2026-01-01T00:00:30Z" });
 * const store = faultyStore(memoryStore(), time);
 * const scheduler = createScheduler({ clock: time.clock, sleeper: time.sleeper, store });
 * let runs = 0;
 * await scheduler.initialize([["hello", "* * * * *", async () => void runs++, 0]]);
 * store.failNext(1);
 * await time.advance(120_000);
 * console.log(runs > 0); // true: one failure of the store delays a run, and loses none
 * ```
 */
export function faultyStore(inner: TaskStore, time?: VirtualTime): FaultyStore {
  const plan = new FaultPlan();
  let tail: Promise<unknown> = Promise.resolve();
  const tapped = tapStore(inner, {
    around: (carryOut) => {
      const faults = plan.next();
      const outcome = tail.then(() => carryOutWith(carryOut, faults, time));
      tail = outcome.catch(() => undefined);
      return outcome;
    },
  });
  return {
    ...tapped,
    failNext: (count, point = "before-commit") => {
      for (let nth = 1; nth <= count; nth++) plan.fail(nth, point);
    },
    failAt: (nth, point = "before-commit") => plan.fail(nth, point),
    delayNext: (count, ms) => {
      if (time === undefined) throw new Error("a delayed store needs virtual time: faultyStore(inner, time)");
      plan.delay(count, ms);
    },
    at: (nth, point, action) => plan.at(nth, point, action),
    heal: () => plan.heal(),
    transactions: () => plan.count,
  };
}
