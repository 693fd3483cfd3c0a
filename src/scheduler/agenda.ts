/**
 * Which tasks are busy in this process, and when to look at the others. Knows no clock and no store, and is no truth:
 * whether anything is owed is read from the record at the time.
 */
import { Timeline } from "../actors/timeline.js";
import type { EpochMs } from "../core/time/instant.js";
import type { RegisteredTask } from "./registrations.js";
import { nextLookAt, settledUntil } from "./task-rules.js";
import type { TaskRecord } from "./types.js";
import { type ZonedCron, ZonedCrons } from "./zoned-crons.js";

const NEVER = Number.POSITIVE_INFINITY;
/** Before everything that a clock says: a timeline knows instants only. */
const AT_ONCE = Number.MIN_SAFE_INTEGER;

export class Agenda {
  readonly #tasks: readonly RegisteredTask[];
  readonly crons = new ZonedCrons();
  readonly #timeline: Timeline;
  /** From the claim until the end of the run is durable. */
  readonly #busy = new Set<number>();
  /** At rest and owed a retry at once: not before the loop has slept, or a zero delay would starve the process. */
  readonly #held = new Set<number>();

  constructor(tasks: readonly RegisteredTask[]) {
    this.#tasks = tasks;
    this.#timeline = new Timeline(tasks.length);
  }

  isBusy(slot: number): boolean {
    return this.#busy.has(slot) || this.#held.has(slot);
  }

  /** From the claim until the end of the run is durable. */
  isRunning(slot: number): boolean {
    return this.#busy.has(slot);
  }

  earliestAt(): EpochMs {
    return this.#timeline.peekAt() ?? NEVER;
  }

  /** In the order of the list, so that equal inputs start in equal order. They stay planned. */
  due(now: EpochMs): readonly number[] {
    return this.#timeline.due(now).sort((a, b) => a - b);
  }

  /** Infinity: never; minus infinity: at once. */
  plan(slot: number, at: EpochMs): void {
    if (at === NEVER) this.#timeline.remove(slot);
    else this.#timeline.set(slot, Math.max(at, AT_ONCE), slot);
  }

  planAll(records: readonly TaskRecord[]): void {
    for (const [slot, record] of records.entries()) this.plan(slot, this.#nextLookAt(slot, record));
  }

  begin(slot: number): void {
    this.#timeline.remove(slot);
    this.#busy.add(slot);
  }

  /** A run has ended and its record is known; null: it is not, so look at it next. Returns when to look. */
  rest(slot: number, record: TaskRecord | null, now: EpochMs): EpochMs {
    this.#busy.delete(slot);
    const at = record === null ? Number.NEGATIVE_INFINITY : this.#nextLookAt(slot, record);
    if (record !== null && at <= now && !this.#isOccurrenceDue(slot, record, now)) this.#held.add(slot);
    else this.plan(slot, at);
    return at;
  }

  /** When the task is to be started next as far as is known; while it runs, its next occurrence. Infinity: never. */
  nextRunAt(slot: number, now: EpochMs): EpochMs {
    if (this.#held.has(slot)) return now;
    const at = this.#busy.has(slot) ? this.#cronOf(slot).nextAfter(now) : (this.#timeline.atOf(slot) ?? NEVER);
    return Math.max(at, now);
  }

  /** To be called right before every sleep. */
  releaseHeld(): void {
    for (const slot of this.#held) this.plan(slot, Number.NEGATIVE_INFINITY);
    this.#held.clear();
  }

  #nextLookAt(slot: number, record: TaskRecord): EpochMs {
    return nextLookAt(record, this.#cronOf(slot));
  }

  #isOccurrenceDue(slot: number, record: TaskRecord, now: EpochMs): boolean {
    return this.#cronOf(slot).nextAfter(settledUntil(record)) <= now;
  }

  #cronOf(slot: number): ZonedCron {
    return this.crons.of(this.#tasks[slot] as RegisteredTask);
  }
}
