/** How time passes between the actions of a trace: evenly, except where an action is itself a jump (P25). */
import type { Stamp, Trace, TraceAction } from "../trace.js";
import { floorToMinute } from "./civil-minutes.js";
import type { Passage } from "./task-causes.js";
import type { Report } from "./violation.js";

export type TraceMoment = TraceAction | ({ readonly kind: "End" } & Stamp);

export class TimeWalk {
  now: Stamp;
  timeZone: string;
  /** Every stretch of the wall clock passed so far, and the part of a minute before each place where it was set down. */
  readonly passages: Passage[] = [];
  readonly #report: Report;

  constructor(trace: Trace, report: Report) {
    this.now = trace.start;
    this.timeZone = trace.timeZone;
    this.#report = report;
    this.#enterMinute();
  }

  changeZone(timeZone: string): void {
    this.timeZone = timeZone;
    this.#enterMinute();
  }

  /**
   * Moves to `next`; `visit` sees each stretch of the wall clock, and learns how long the process had run when it read
   * an instant of that stretch. A jump takes no time.
   */
  moveTo(next: TraceMoment, visit: (passage: Passage, ranMsAt: (at: number) => number) => void): void {
    const isJump = next.kind === "Clock" || next.kind === "Pause";
    const before = isJump ? next.from : next.at;
    const passedMs = next.ranMs - this.now.ranMs;
    if (passedMs < 0) this.#report("P25", "time ran backwards between two actions");
    if (before - this.now.at !== passedMs) this.#report("P25", "the wall clock moved without being set");
    this.#pass(before, next.ranMs, visit);
    if (isJump) this.#pass(next.at, next.ranMs, visit);
    this.now = { at: next.at, ranMs: next.ranMs };
    if (isJump) this.#enterMinute();
  }

  /** The civil minute that has begun counts as well, although its beginning was never passed. */
  #enterMinute(): void {
    const { at } = this.now;
    this.passages.push({ after: floorToMinute(at) - 1, upTo: at, timeZone: this.timeZone });
  }

  #pass(upTo: number, ranMs: number, visit: (passage: Passage, ranMsAt: (at: number) => number) => void): void {
    const from = this.now;
    if (upTo > from.at) {
      const passage: Passage = { after: from.at, upTo, timeZone: this.timeZone };
      this.passages.push(passage);
      visit(passage, (at) => Math.min(ranMs, from.ranMs + at - from.at));
    }
    this.now = { at: upTo, ranMs };
  }
}
