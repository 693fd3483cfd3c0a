/**
 * One look at a KronJob while it is being thought through: what is known, the status as it is going to be, and what is to
 * be done. It lives for one `reconcile` and is seen by nothing else.
 */
import type { EpochMs } from "../../core/time/instant.js";
import type { JobView } from "../job-view.js";
import type { KronJob, KronJobStatus } from "../kube/types.js";
import type { Effect, Observed } from "./effects.js";
import type { Memory } from "./memory.js";
import type { News } from "./news.js";

export class Sketch {
  readonly observed: Observed;
  readonly now: EpochMs;
  readonly before: KronJobStatus;
  status: KronJobStatus;
  memory: Memory;
  /** Before the status is written. */
  readonly first: Effect[] = [];
  /** After it. */
  readonly last: Effect[] = [];
  /** Told once the status is written. */
  readonly news: News[] = [];
  /** Told in any case. */
  readonly loose: News[] = [];
  lookAgainAt: EpochMs | null = null;

  constructor(observed: Observed, memory: Memory, now: EpochMs) {
    this.observed = observed;
    this.memory = memory;
    this.now = now;
    this.before = observed.kronJob.status ?? {};
    this.status = this.before;
  }

  get kronJob(): KronJob {
    return this.observed.kronJob;
  }

  get uid(): string {
    return this.observed.kronJob.metadata.uid;
  }

  /** undefined: not known; null: not there. */
  job(name: string): JobView | null | undefined {
    return this.observed.jobs.get(name);
  }

  isActive({ uid }: JobView): boolean {
    return this.status.active?.some((active) => active.uid === uid) === true;
  }

  lookAgain(at: EpochMs): void {
    this.lookAgainAt = Math.min(this.lookAgainAt ?? at, at);
  }
}
