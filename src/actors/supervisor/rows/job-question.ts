/**
 * A question to the index: is this job one of those, and where is its place? Answered from numbers alone; where the clock may
 * have made them untrue, or where they do not say it, the answer is that nobody knows without reading the job.
 */
import { FAR } from "../../../core/base/coarse.js";
import { durationIn, failuresIn, latenessIn, MARK, outcomeIn } from "../../../core/restart/glance.js";
import type { Outcome } from "../../../core/state/document.js";
import { type EpochMs, SECOND_MS } from "../../../core/time/instant.js";
import type { TimelineHandle } from "../../timeline.js";
import type { JobStatus } from "../port.js";
import { failuresKey, lengthKey, nextKey, rowKey } from "./job-order.js";
import type { ListFilter, ListOrder } from "./job-query.js";
import type { JobRows } from "./job-rows.js";
import { NamePart, NamePattern, type NameTest } from "./name-pattern.js";

type Verdict = "yes" | "no" | "unsure";

const STANDING_BITS: Readonly<Record<JobStatus["standing"], number>> = {
  enabled: 1,
  suspended: 2,
  paused: 4,
  removed: 8,
};
const ANY_STANDING = 15;

export class JobQuestion {
  /** From then on the clock alone may make another answer of it. */
  untilAt: EpochMs = Number.POSITIVE_INFINITY;
  readonly #rows: JobRows;
  readonly #now: EpochMs;
  readonly #second: number;
  readonly #names: readonly NameTest[];
  readonly #part: NameTest | null;
  /** As good as if the part was in their identity. */
  readonly #called: ReadonlySet<TimelineHandle>;
  readonly #standings: number;
  readonly #mustBe: number;
  /** Empty: any, or none yet. */
  readonly #outcomes: readonly Outcome[];
  readonly #dueBy: EpochMs | null;
  readonly #order: ListOrder;

  constructor(rows: JobRows, filter: ListFilter, order: ListOrder, now: EpochMs) {
    const { identities, search = "", called = [], standings } = filter;
    const { isFailing, isRunning, outcomes = [], dueBy = null } = filter;
    this.#rows = rows;
    this.#now = now;
    this.#second = Math.floor(now / SECOND_MS);
    this.#names = identities.map((glob) => new NamePattern(glob));
    this.#part = search === "" ? null : new NamePart(search);
    this.#called = new Set(called.flatMap((identity) => rows.names.handleOf(identity) ?? []));
    const wanted = standings.reduce((bits, standing) => bits | STANDING_BITS[standing], 0);
    // Only what is enabled is due.
    this.#standings = (wanted === 0 ? ANY_STANDING : wanted) & (dueBy === null ? ANY_STANDING : STANDING_BITS.enabled);
    this.#mustBe = (isFailing === true ? MARK.failing : 0) | (isRunning === true ? MARK.running : 0);
    this.#outcomes = outcomes;
    this.#dueBy = dueBy;
    this.#order = order;
  }

  /** Nothing of a job that is not named is looked at. */
  of(handle: TimelineHandle): Verdict {
    const { index } = this.#rows;
    const marks = index.marksOf(handle);
    const isSeen = (marks & MARK.seen) !== 0;
    if (isSeen && (marks & this.#mustBe) !== this.#mustBe) return "no";
    if (isSeen && !this.#hasOutcome(marks)) return "no";
    const standing = isSeen ? this.#standingOf(handle, marks) : null;
    if (standing !== null && (standing & this.#standings) === 0) return "no";
    if (!this.#isNamed(handle)) return "no";
    if (standing === null) this.untilAt = Math.min(this.untilAt, this.#now);
    return standing === null ? "unsure" : this.#isDue(handle, marks);
  }

  /** Where it stands in the order that was asked for, but for its name; null: nobody knows without reading it. */
  keyOf(handle: TimelineHandle): number | null {
    const { index } = this.#rows;
    const { sort, isReversed } = this.#order;
    const marks = index.marksOf(handle);
    if ((marks & MARK.seen) === 0) return null;
    if (sort === "failures") return failuresKey(failuresIn(marks), isReversed);
    if (sort === "duration") return lengthKey(durationIn(index.lengthsOf(handle)), isReversed);
    if (sort === "lateness") return lengthKey(latenessIn(index.lengthsOf(handle)), isReversed);
    // Of a paused job it is kept until when.
    if ((marks & MARK.paused) !== 0) {
      this.#untilSecond(index.secondOf(handle));
      return null;
    }
    return this.#isKnown(handle, marks) ? nextKey(index.secondOf(handle), isReversed) : null;
  }

  keyOfRow(row: JobStatus): number {
    return rowKey(row, this.#order);
  }

  /** null: its pause may be over. */
  #standingOf(handle: TimelineHandle, marks: number): number | null {
    if (this.#rows.isRemoved(handle)) return STANDING_BITS.removed;
    if ((marks & MARK.suspended) !== 0) return STANDING_BITS.suspended;
    if ((marks & MARK.paused) === 0) return STANDING_BITS.enabled;
    const second = this.#rows.index.secondOf(handle);
    this.#untilSecond(second);
    return this.#second < second ? STANDING_BITS.paused : null;
  }

  #hasOutcome(marks: number): boolean {
    if (this.#outcomes.length === 0) return true;
    const outcome = outcomeIn(marks);
    return outcome !== null && this.#outcomes.includes(outcome);
  }

  #isDue(handle: TimelineHandle, marks: number): Verdict {
    if (this.#dueBy === null) return "yes";
    const second = this.#rows.index.secondOf(handle);
    if (second === FAR || !this.#isKnown(handle, marks)) return "unsure";
    return second !== 0 && second * SECOND_MS <= this.#dueBy ? "yes" : "no";
  }

  /** Whether what it has next is still what it was when somebody looked. */
  #isKnown(handle: TimelineHandle, marks: number): boolean {
    if ((marks & MARK.loose) === 0) return true;
    const second = this.#rows.index.secondOf(handle);
    const wakeAt = this.#rows.wakeAt(handle) ?? Number.POSITIVE_INFINITY;
    this.untilAt = Math.min(this.untilAt, second * SECOND_MS, wakeAt);
    return this.#second < second && this.#now < wakeAt;
  }

  #untilSecond(second: number): void {
    this.untilAt = Math.min(this.untilAt, second * SECOND_MS);
  }

  #isNamed(handle: TimelineHandle): boolean {
    const { names } = this.#rows;
    const hasPart = this.#part === null || this.#called.has(handle) || names.matches(handle, this.#part);
    if (!hasPart) return false;
    if (this.#names.length === 0) return true;
    for (const name of this.#names) if (names.matches(handle, name)) return true;
    return false;
  }
}
