/**
 * When jobs are woken: the timeline of what is due, and the waker that looks at it. Nothing is judged here; a job that is
 * woken too early goes back to sleep, and one that is woken late is told so (S6, S13).
 */
import { type EpochMs, MINUTE_MS } from "../../../core/time/instant.js";
import { isScheduling } from "../../../machines/supervisor-phase.js";
import type { Clock } from "../../clock.js";
import { lostBy } from "../../lost-times.js";
import type { Phase } from "../../phase.js";
import { Timeline, type TimelineHandle } from "../../timeline.js";
import { WAKE_NEAR_MS, type Wake, Waker } from "../../waker.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry } from "../rows/job-entry.js";
import type { JobSet } from "../rows/job-set.js";
import { ClockReturn } from "../start/clock-return.js";
import type { SupervisorCore } from "./core.js";
import { LEAST_LEAD_MS } from "./gates.js";

/** Jobs woken before the loop gets to breathe. */
const WOKEN_PER_TURN = 16;
/** Claims that were worked out ahead cost so little that many are taken in one turn. */
const CLAIMED_PER_TURN = 256;
/** Rows looked at, likewise. */
const LOOKED_AT_PER_TURN = 16_384;
/** S13: a wake later than this is a return. */
const LATE_WAKE_MS = MINUTE_MS;

/** What is due at one instant. */
interface Tick {
  /** One for all of it (S2). */
  readonly now: EpochMs;
  readonly isLateWake: boolean;
  /** How long before its second each of them is to be made ready. */
  readonly leadMs: number;
}

export class Schedule {
  readonly #timeline = new Timeline();
  readonly #waker: Waker;
  readonly #clockReturn: ClockReturn;
  #isWakerStale = false;
  /** What is being woken, in turns of the loop. */
  #waking: Tick | null = null;

  readonly #clock: Clock;
  readonly #jobs: JobSet;
  readonly #core: SupervisorCore;
  readonly #phase: Phase;
  readonly #onJump: (now: EpochMs, jumpMs: number) => void;

  constructor(
    ports: Pick<SupervisorPorts, "clock" | "plan" | "store">,
    jobs: JobSet,
    core: SupervisorCore,
    phase: Phase,
    onJump: (now: EpochMs, jumpMs: number) => void,
  ) {
    this.#jobs = jobs;
    this.#core = core;
    this.#phase = phase;
    this.#onJump = onJump;
    this.#clock = ports.clock;
    this.#clockReturn = new ClockReturn(ports, jobs, (handle) => this.placeResting(handle));
    this.#waker = new Waker(
      ports.clock,
      () => this.#nextDueAt(),
      (wake) => this.#tick(wake),
    );
  }

  open(): void {
    this.#waker.arm();
  }

  close(): void {
    this.#waker.stop();
    this.#clockReturn.cancel();
  }

  /** Whether nobody has moved the clock since jobs were told of it (S6). */
  knowsTheTime(): boolean {
    return this.#waker.peek().jumpMs === null;
  }

  get #isOpen(): boolean {
    return isScheduling(this.#phase.snapshot);
  }

  /** Saves growing step by step when the number of jobs is known. */
  reserve(count: number): void {
    this.#timeline.reserve(count);
  }

  /** Takes up what the job waits for now. */
  place({ handle, prearmed, activation }: JobEntry): void {
    // Nothing is made ready for a job that is live.
    this.placeResting(handle, prearmed !== null || activation !== null);
  }

  /** The same of a job that rests. */
  placeResting(handle: TimelineHandle, isPrepared = false): void {
    const { rows } = this.#jobs;
    const wakeAt = rows.wakeAt(handle);
    if (wakeAt === null) this.#timeline.remove(handle);
    else {
      // Once more before its second, to have a process ready.
      this.#timeline.set(handle, isPrepared ? wakeAt : this.#lookAt(wakeAt), rows.liveAt(handle) ?? 0);
    }
    this.#rearm();
  }

  /** Where very many may wait, long before; once more when most of those that ran until then have ended; what is due soon, now. */
  #lookAt(wakeAt: EpochMs): EpochMs {
    const now = this.#clock.now();
    const { longestLeadMs } = this.#core.executor.gates;
    if (wakeAt - now > longestLeadMs) return wakeAt - longestLeadMs;
    return wakeAt - now > LEAST_LEAD_MS ? wakeAt - LEAST_LEAD_MS : Math.min(now, wakeAt);
  }

  remove({ handle }: JobEntry): void {
    this.#timeline.remove(handle);
  }

  /** S13: whether this job is about to learn that time was lost, and should hear of that first. */
  isBehind({ wakeAt }: JobEntry, now: EpochMs): boolean {
    return this.#isOpen && (this.#isLate(wakeAt, now) || this.#waker.isBehind(LATE_WAKE_MS));
  }

  /** One `now` for everything that is due (S2). */
  #tick(wake: Wake): void {
    if (!this.#isOpen) return;
    const { now, jumpMs, lateMs } = wake;
    const lost = lostBy(wake, LATE_WAKE_MS);
    if (lost !== null) this.#core.lost.add(lost);
    if (jumpMs === null) {
      this.#begin(now, lateMs > LATE_WAKE_MS);
      return;
    }
    this.#onJump(now, jumpMs);
    // S6, S13: every job looks at where it is. All are marked before the first is told: whatever wakes one of them in
    // the meantime finds the mark.
    const { rows } = this.#jobs;
    for (const entry of this.#jobs.entries()) this.#core.executor.unprepare(entry);
    for (const handle of rows.handles()) rows.setMustReturn(handle, true);
    this.#core.begin(this.#core.track(this.#returnAll(now)));
  }

  async #returnAll(now: EpochMs): Promise<void> {
    if (await this.#clockReturn.restOn(now)) this.#wakeMarked(0);
  }

  /** Jobs that come later know the time already. */
  #wakeMarked(from: TimelineHandle): void {
    if (!this.#isOpen) return;
    const { rows } = this.#jobs;
    let handle = from;
    const end = Math.min(rows.names.handleEnd, from + LOOKED_AT_PER_TURN);
    for (let woken = 0; handle < end && woken < WOKEN_PER_TURN; handle++) {
      // What was not told its definition yet looks at where it is when it is told (S16).
      if (!rows.names.has(handle) || !rows.mustReturn(handle) || rows.isUntold(handle)) continue;
      this.#core.deliver(this.#jobs.at(handle), { type: "WAKE", isReturning: true, nominalAt: null });
      woken += 1;
    }
    const next = handle;
    if (next < rows.names.handleEnd) this.#nextTurn(() => this.#wakeMarked(next));
  }

  /** Few are ready in no time, and nobody should wait at a gate for longer than that takes. */
  #leadMs(now: EpochMs): number {
    const { gates } = this.#core.executor;
    return gates.longestLeadMs === LEAST_LEAD_MS ? LEAST_LEAD_MS : gates.leadMs(this.#timeline.due(now).length);
  }

  /**
   * One after another, however often the waker comes meanwhile: if more of them began to be woken side by side each time,
   * nobody else would have a turn. A wake that comes late takes over, and tells the rest so.
   */
  #begin(now: EpochMs, isLateWake: boolean): void {
    if (this.#waking !== null && !isLateWake) return;
    const tick = { now, isLateWake, leadMs: this.#leadMs(now) };
    this.#waking = tick;
    this.#wakeDue(tick);
  }

  #wakeDue(tick: Tick): void {
    let [woken, claimed, hasMore] = [0, 0, true];
    while (hasMore && woken < WOKEN_PER_TURN && claimed < CLAIMED_PER_TURN) {
      const due = this.#timeline.popDue(tick.now, WOKEN_PER_TURN);
      for (const handle of due) {
        if (this.#wakeOne(handle, tick)) claimed += 1;
        else woken += 1;
      }
      hasMore = due.length === WOKEN_PER_TURN;
    }
    if (!hasMore) {
      this.#waking = null;
      return;
    }
    this.#nextTurn(() => {
      if (this.#waking !== tick) return;
      // Stopped for long, or the clock was moved in between: the rest is for the next wake, which will say so.
      const isStale = this.#clock.now() < tick.now || this.#waker.isBehind(LATE_WAKE_MS);
      if (this.#isOpen && !isStale) this.#wakeDue(tick);
      else this.#waking = null;
      if (this.#waking === null) this.#rearm();
    });
  }

  /** What is due while it is being woken already wakes nobody again. */
  #nextDueAt(): EpochMs | null {
    return this.#waking === null ? this.#timeline.peekAt() : this.#clock.now() + WAKE_NEAR_MS;
  }

  /** Whether its claim was worked out ahead; otherwise it was woken, or there was nothing to wake. */
  #wakeOne(handle: TimelineHandle, { now, isLateWake, leadMs }: Tick): boolean {
    const { rows } = this.#jobs;
    const wakeAt = rows.wakeAt(handle);
    if (wakeAt === null || rows.isUntold(handle)) return false;
    if (wakeAt - now > leadMs) {
      this.#timeline.set(handle, wakeAt - leadMs, rows.liveAt(handle) ?? 0);
      return false;
    }
    const entry = this.#jobs.at(handle);
    if (wakeAt > now) {
      this.#core.prepare(entry);
      const isSoon = wakeAt - now <= LEAST_LEAD_MS;
      this.#timeline.set(handle, isSoon ? wakeAt : this.#lookAt(wakeAt), rows.liveAt(handle) ?? 0);
      return false;
    }
    // Another wake may come before all of a late one are told: each job's own lateness counts as well.
    const isReturning = isLateWake || this.#isLate(wakeAt, now);
    if (!isReturning && this.#core.claimAhead(entry, now)) return true;
    this.#core.deliver(entry, { type: "WAKE", isReturning, nominalAt: rows.liveAt(handle) }, now);
    return false;
  }

  /** Counts as under way until it has been done. */
  #nextTurn(act: () => void): void {
    const turn = new Promise<void>((resolve) => {
      setImmediate(() => {
        act();
        resolve();
      });
    });
    this.#core.begin(this.#core.track(turn));
  }

  #isLate(wakeAt: EpochMs | null, now: EpochMs): boolean {
    return wakeAt !== null && now - wakeAt > LATE_WAKE_MS;
  }

  /** Many jobs settle in one turn: the waker is set once, after them. */
  #rearm(): void {
    if (!this.#isOpen || this.#isWakerStale) return;
    this.#isWakerStale = true;
    this.#nextTurn(() => {
      this.#isWakerStale = false;
      if (this.#isOpen) this.#waker.arm();
    });
  }
}
