/**
 * Writes down what happens: starts and ends as the machine saw them, outcomes as they became durable. From the two sides
 * it is told at once when a run begins that no durable claim stands behind, or a second time, or too early.
 */

import type { RequestWitness } from "../actors/dispatcher/simulated-dispatcher.js";
import type { HostWitness } from "../actors/launcher/daemon/simulated-launcher.js";
import type { ArmRequest } from "../actors/runner/port.js";
import { isAskedSource, isOwnSource, isPeriod } from "../core/period/occasion.js";
import { type Ending, endingText, isSuccess, resultOf } from "../core/state/ending.js";
import { type EpochMs, floorToSecond, formatInstant } from "../core/time/instant.js";
import type { Batch } from "../persist/store.js";
import { countUp, JobHistory, secondOf } from "./job-history.js";
import { instantOf, type ReadRecord, readRecord } from "./records.js";
import { nameOfRun } from "./run-name.js";
import { judgeTried } from "./tried-oracle.js";

export interface Start {
  readonly identity: string;
  readonly periodId: string;
  /** null for the job's own periods. */
  readonly source: string | null;
  readonly startedAt: EpochMs;
  readonly chosenAt: EpochMs;
}

interface Peak {
  readonly count: number;
  readonly at: EpochMs | null;
}

interface Lateness {
  readonly ms: number;
  readonly identity: string;
  readonly periodId: string;
}

interface Claim {
  readonly source: string | null;
  readonly periodId: string;
  readonly retryOf: string | null;
}

/** A broken promise is told once for each place; more of the same says nothing new. */
const VIOLATIONS_KEPT = 1_000;

export class Chronicle implements HostWitness, RequestWitness {
  readonly jobs = new Map<string, JobHistory>();
  readonly violations: string[] = [];
  violationCount = 0;
  duplicates = 0;
  runningPeak: Peak = { count: 0, at: null };
  secondPeak: Peak = { count: 0, at: null };
  /** By milliseconds between chosen instant and start: how often. */
  readonly lateness = new Map<number, number>();
  worst: Lateness | null = null;
  #running = 0;
  #second = { at: Number.NaN, count: 0 };
  readonly #claims = new Map<string, Claim>();
  readonly #onStart: (start: Start) => void;
  readonly #onEnd: (request: ArmRequest) => void;

  constructor(onStart: (start: Start) => void, onEnd: (request: ArmRequest) => void) {
    this.#onStart = onStart;
    this.#onEnd = onEnd;
  }

  job(identity: string): JobHistory {
    const known = this.jobs.get(identity);
    if (known !== undefined) return known;
    const fresh = new JobHistory(identity);
    this.jobs.set(identity, fresh);
    return fresh;
  }

  violate(what: string): void {
    this.violationCount += 1;
    if (this.violations.length < VIOLATIONS_KEPT) this.violations.push(what);
  }

  // --- what the machine sees ---

  sent(request: ArmRequest, sentAt: EpochMs): void {
    this.executed(request, sentAt);
  }

  executed(request: ArmRequest, startedAt: EpochMs): void {
    const { attemptId } = request;
    const { identity, periodId: told, chosenAt } = nameOfRun(request);
    const job = this.job(identity);
    const claim = this.#claims.get(attemptId);
    if (claim === undefined) this.violate(`${identity}@${told} began without a durable claim`);
    // A further attempt is told the period that it is of, and has a slot of its own (S43).
    const periodId = claim?.periodId ?? told;
    const source = claim?.source ?? null;
    this.#once(job, claim ?? { source, periodId, retryOf: null }, startedAt);
    this.#mayStart(job, source, periodId);
    if (isPeriod(source)) this.#late(job, periodId, startedAt, chosenAt);
    this.#begun(job, attemptId, source, startedAt);
    this.#onStart({ identity, periodId, source, startedAt, chosenAt });
  }

  ended(request: ArmRequest): void {
    const job = this.job(nameOfRun(request).identity);
    if (job.running.delete(request.attemptId)) this.#running -= 1;
    this.#onEnd(request);
  }

  #once(job: JobHistory, { source, periodId, retryOf }: Claim, startedAt: EpochMs): void {
    const second = secondOf(instantOf(periodId));
    const slot = `${source}@${periodId}`;
    const isRepeat = isPeriod(source) ? job.starts.has(second) : job.slots.has(slot);
    if (isPeriod(source)) job.starts.set(second, startedAt);
    else {
      job.slots.add(slot);
      job.slotStarts.push({ source, slotAt: instantOf(periodId), startedAt, retryOf });
    }
    if (!isRepeat) return;
    this.duplicates += 1;
    this.violate(`${job.identity}@${periodId} ran more than once`);
  }

  /** A job that forbids it never runs beside itself, and never more often than it allows. */
  #mayStart(job: JobHistory, source: string | null, periodId: string): void {
    const policy = job.definition?.policy;
    if (policy === undefined || !isOwnSource(source)) return;
    const most = policy.concurrency === "allow" ? (policy.maxActive ?? Number.POSITIVE_INFINITY) : 1;
    if (job.running.size < most) return;
    this.violate(`${job.identity}@${periodId} began beside ${job.running.size} other runs (${policy.concurrency})`);
  }

  #late(job: JobHistory, periodId: string, startedAt: EpochMs, chosenAt: EpochMs): void {
    const lateMs = startedAt - chosenAt;
    const { identity } = job;
    if (lateMs < 0) this.violate(`${identity}@${periodId} began at ${formatInstant(startedAt)}, before its instant`);
    job.maxLatenessMs = Math.max(job.maxLatenessMs, lateMs);
    countUp(this.lateness, lateMs);
    if (lateMs > (this.worst?.ms ?? 0)) this.worst = { ms: lateMs, identity, periodId };
  }

  #begun(job: JobHistory, attemptId: string, source: string | null, startedAt: EpochMs): void {
    if (job.running.size > 0) job.overlaps += 1;
    job.running.add(attemptId);
    job.peak = Math.max(job.peak, job.running.size);
    job.started += 1;
    if (isAskedSource(source)) job.manual += 1;
    else if (source === "interval") job.intervals += 1;
    else if (source === "retry") job.retried += 1;
    else if (source === "reboot") job.atBoot += 1;
    else if (!isPeriod(source)) job.hinted += 1;
    this.#running += 1;
    if (this.#running > this.runningPeak.count) this.runningPeak = { count: this.#running, at: startedAt };
    const at = floorToSecond(startedAt);
    this.#second = { at, count: this.#second.at === at ? this.#second.count + 1 : 1 };
    if (this.#second.count > this.secondPeak.count) this.secondPeak = { count: this.#second.count, at };
  }

  // --- what became durable ---

  durable({ ledger = [] }: Batch): void {
    for (const record of ledger) this.#note(record.identity, record.at, readRecord(record));
  }

  #note(identity: string, at: EpochMs, record: ReadRecord): void {
    if (record.kind === "other") return;
    const job = this.job(identity);
    const { tried, violation } = judgeTried(job.tried, at, record);
    job.tried = tried;
    if (violation !== null) this.violate(`${identity}@${formatInstant(at)} ${violation}`);
    if (record.kind === "start_failed" || record.kind === "defined") return;
    if (record.kind === "gap") job.gaps.push(record);
    else if (record.kind === "stopped") job.stop(at);
    else if (record.kind === "run") this.#noteRun(job, record);
    else this.#notePeriod(job, at, record);
  }

  #notePeriod(job: JobHistory, at: EpochMs, record: Extract<ReadRecord, { kind: "period" }>): void {
    const second = secondOf(at);
    const before = job.outcomes.get(second);
    if (before === record.outcome) return;
    if (before !== undefined && before !== "before_definition") {
      this.violate(`${job.identity}@${formatInstant(at)} was ${before} and became ${record.outcome}`);
    }
    job.outcomes.set(second, record.outcome);
    const { outcome, reason } = record;
    if (reason !== null && reason !== outcome) countUp(job.reasons, `${outcome}: ${reason}`);
  }

  #noteRun(job: JobHistory, record: Extract<ReadRecord, { kind: "run" }>): void {
    const { attemptId, source, periodId, retryOf, ending, endedAt } = record;
    if (ending === null) {
      if (attemptId !== null) this.#claims.set(attemptId, { source, periodId, retryOf });
      return;
    }
    if (attemptId !== null) this.#claims.delete(attemptId);
    if (endedAt !== null && !isSuccess(ending)) noteFailure(job, retryOf ?? periodId, endedAt);
    countUp(job.exits, exitName(ending));
    if (isFailure(ending)) job.failed += 1;
    if (ending.reason !== null) countUp(job.reasons, `run: ${ending.reason}`);
    const hasRun = !isPeriod(source) || job.starts.has(secondOf(instantOf(periodId)));
    const hasResult = ending.kind === "answered" || (ending.kind === "exited" && ending.code !== null);
    if (hasResult && !hasRun) {
      this.violate(`${job.identity}@${periodId} has a result on record and never began`);
    }
  }
}

function noteFailure({ failures }: JobHistory, periodId: string, at: EpochMs): void {
  failures.set(periodId, [...(failures.get(periodId) ?? []), at]);
}

/** What a daemon ends on purpose is no failure of the run. */
const ENDED_BY_KRON: ReadonlySet<string> = new Set(["replaced", "cancelled"]);

/** `0`, `1`, `SIGKILL`, `HTTP 200`, `SIGTERM: replaced`, or `unknown` where nobody saw the end. */
function exitName(ending: Ending): string {
  return isByKron(ending) ? `${endingText(ending)}: ${ending.reason}` : endingText(ending);
}

function isFailure(ending: Ending): boolean {
  const result = resultOf(ending);
  return (result === "failure" || result === "signal") && !isByKron(ending);
}

function isByKron({ reason }: Ending): boolean {
  return reason !== null && ENDED_BY_KRON.has(reason);
}
