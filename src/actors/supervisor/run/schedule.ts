/**
 * When jobs are woken: the timeline of what is due, and the waker that looks at it. Nothing is judged here; a job that is
 * woken too early goes back to sleep, and one that is woken late is told so (S6, S13).
 */
import { type EpochMs, MINUTE_MS } from "../../../core/time/instant.js";
import { isScheduling } from "../../../machines/supervisor-phase.js";
import type { Clock } from "../../clock.js";
import type { Phase } from "../../phase.js";
import { Timeline, type TimelineHandle } from "../../timeline.js";
import { type Wake, Waker } from "../../waker.js";
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

export class Schedule {
  private readonly timeline = new Timeline();
  private readonly waker: Waker;
  private readonly clockReturn: ClockReturn;
  private isWakerStale = false;

  private readonly clock: Clock;

  constructor(
    ports: Pick<SupervisorPorts, "clock" | "plan" | "store">,
    private readonly jobs: JobSet,
    private readonly core: SupervisorCore,
    private readonly phase: Phase,
    private readonly onJump: (now: EpochMs, jumpMs: number) => void,
  ) {
    this.clock = ports.clock;
    this.clockReturn = new ClockReturn(ports, jobs, (handle) => this.placeResting(handle));
    this.waker = new Waker(
      ports.clock,
      () => this.timeline.peekAt(),
      (wake) => this.tick(wake),
    );
  }

  open(): void {
    this.waker.arm();
  }

  close(): void {
    this.waker.stop();
    this.clockReturn.cancel();
  }

  private get isOpen(): boolean {
    return isScheduling(this.phase.snapshot);
  }

  /** Saves growing step by step when the number of jobs is known. */
  reserve(count: number): void {
    this.timeline.reserve(count);
  }

  /** Takes up what the job waits for now. */
  place({ handle, prearmed }: JobEntry): void {
    this.placeResting(handle, prearmed !== null);
  }

  /** The same of a job that rests. */
  placeResting(handle: TimelineHandle, isPrepared = false): void {
    const { rows } = this.jobs;
    const wakeAt = rows.wakeAt(handle);
    if (wakeAt === null) this.timeline.remove(handle);
    else {
      // Once more before its second, to have a process ready; not for what is due at once.
      this.timeline.set(handle, isPrepared ? wakeAt : this.lookAt(wakeAt), rows.liveAt(handle) ?? 0);
    }
    this.rearm();
  }

  /** Where very many may wait, long before; once more when most of those that ran until then have ended. */
  private lookAt(wakeAt: EpochMs): EpochMs {
    const aheadMs = wakeAt - this.clock.now();
    const { leadMs } = this.core.executor.gates;
    if (aheadMs > leadMs) return wakeAt - leadMs;
    return aheadMs > LEAST_LEAD_MS ? wakeAt - LEAST_LEAD_MS : wakeAt;
  }

  remove({ handle }: JobEntry): void {
    this.timeline.remove(handle);
  }

  /** S13: whether this job is about to learn that time was lost, and should hear of that first. */
  isBehind({ wakeAt }: JobEntry, now: EpochMs): boolean {
    return this.isOpen && (this.isLate(wakeAt, now) || this.waker.isBehind(LATE_WAKE_MS));
  }

  /** One `now` for everything that is due (S2). */
  private tick({ now, jumpMs, lateMs }: Wake): void {
    if (!this.isOpen) return;
    if (jumpMs === null) {
      if (lateMs > LATE_WAKE_MS) this.core.lost.add({ cause: "stalled", fromAt: now - lateMs, untilAt: now });
      this.wakeDue(now, lateMs > LATE_WAKE_MS);
      return;
    }
    this.core.lost.add({ cause: "clock_jump", fromAt: now - jumpMs, untilAt: now });
    this.onJump(now, jumpMs);
    // S6, S13: every job looks at where it is. All are marked before the first is told: whatever wakes one of them in
    // the meantime finds the mark.
    const { rows } = this.jobs;
    for (const entry of this.jobs.entries()) this.core.executor.unprepare(entry);
    for (const handle of rows.handles()) rows.setMustReturn(handle, true);
    this.core.begin(this.core.track(this.returnAll(now)));
  }

  private async returnAll(now: EpochMs): Promise<void> {
    if (await this.clockReturn.restOn(now)) this.wakeMarked(0);
  }

  /** Jobs that come later know the time already. */
  private wakeMarked(from: TimelineHandle): void {
    if (!this.isOpen) return;
    const { rows } = this.jobs;
    let handle = from;
    const end = Math.min(rows.names.handleEnd, from + LOOKED_AT_PER_TURN);
    for (let woken = 0; handle < end && woken < WOKEN_PER_TURN; handle++) {
      // What was not told its definition yet looks at where it is when it is told (S16).
      if (!rows.names.has(handle) || !rows.mustReturn(handle) || rows.isUntold(handle)) continue;
      this.core.deliver(this.jobs.at(handle), { type: "WAKE", isReturning: true, nominalAt: null });
      woken += 1;
    }
    const next = handle;
    this.goOn(next < rows.names.handleEnd, () => this.wakeMarked(next));
  }

  private wakeDue(now: EpochMs, isLateWake: boolean): void {
    let [woken, claimed, hasMore] = [0, 0, true];
    while (hasMore && woken < WOKEN_PER_TURN && claimed < CLAIMED_PER_TURN) {
      const due = this.timeline.popDue(now, WOKEN_PER_TURN);
      for (const handle of due) {
        if (this.wakeOne(handle, now, isLateWake)) claimed += 1;
        else woken += 1;
      }
      hasMore = due.length === WOKEN_PER_TURN;
    }
    this.goOn(hasMore, () => {
      // Stopped for long, or the clock was moved in between: the rest is for the next wake, which will say so.
      const isStale = this.clock.now() < now || this.waker.isBehind(LATE_WAKE_MS);
      if (this.isOpen && !isStale) this.wakeDue(now, isLateWake);
    });
  }

  /** Whether its claim was worked out ahead; otherwise it was woken, or there was nothing to wake. */
  private wakeOne(handle: TimelineHandle, now: EpochMs, isLateWake: boolean): boolean {
    const { rows } = this.jobs;
    const wakeAt = rows.wakeAt(handle);
    if (wakeAt === null || rows.isUntold(handle)) return false;
    const entry = this.jobs.at(handle);
    if (wakeAt > now) {
      this.core.prepare(entry);
      this.timeline.set(handle, this.lookAt(wakeAt), rows.liveAt(handle) ?? 0);
      return false;
    }
    // Another wake may come before all of a late one are told: each job's own lateness counts as well.
    const isReturning = isLateWake || this.isLate(wakeAt, now);
    if (!isReturning && this.core.claimAhead(entry, now)) return true;
    this.core.deliver(entry, { type: "WAKE", isReturning, nominalAt: rows.liveAt(handle) }, now);
    return false;
  }

  private goOn(hasMore: boolean, next: () => void): void {
    if (hasMore) this.nextTurn(next);
  }

  /** Counts as under way until it has been done. */
  private nextTurn(act: () => void): void {
    const turn = new Promise<void>((resolve) => {
      setImmediate(() => {
        act();
        resolve();
      });
    });
    this.core.begin(this.core.track(turn));
  }

  private isLate(wakeAt: EpochMs | null, now: EpochMs): boolean {
    return wakeAt !== null && now - wakeAt > LATE_WAKE_MS;
  }

  /** Many jobs settle in one turn: the waker is set once, after them. */
  private rearm(): void {
    if (!this.isOpen || this.isWakerStale) return;
    this.isWakerStale = true;
    this.nextTurn(() => {
      this.isWakerStale = false;
      if (this.isOpen) this.waker.arm();
    });
  }
}
