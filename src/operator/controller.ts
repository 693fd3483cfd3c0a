/**
 * The KronJobs of a cluster: a row for each, one timeline for all, and a look at whatever may need one. A watch event is
 * thought through at once, without a request; only if there is something to do is the object read directly and acted
 * upon. What the controller remembers is a convenience: every look begins from what the API server says.
 */
import type { Clock } from "../actors/clock.js";
import { LostTimes, lostBy } from "../actors/lost-times.js";
import { Timeline } from "../actors/timeline.js";
import { type Wake, Waker } from "../actors/waker.js";
import type { LostTime } from "../core/period/cause.js";
import { retryDelayMs } from "../core/period/lateness.js";
import type { EpochMs } from "../core/time/instant.js";
import { carryOut } from "./carry-out.js";
import type { KubeGateway } from "./gateway.js";
import { keyOf } from "./identity.js";
import { isIn, JobCache, type Scope } from "./job-cache.js";
import { type JobView, viewOf } from "./job-view.js";
import { ApiFailure } from "./kube/failure.js";
import type { Job, KronJob } from "./kube/types.js";
import type { WatchHandler } from "./kube/watch.js";
import { LEASE_TIMES } from "./lease.js";
import { OPERATOR_LIMITS, OPERATOR_TIMES } from "./limits.js";
import type { Observed } from "./plan/effects.js";
import { afterLostTime, type Memory, NOTHING_KNOWN, remembered, ticked } from "./plan/memory.js";
import { beginPass, type Pass } from "./plan/pass.js";
import { type Plan, reconcile } from "./plan/reconcile.js";
import { type Urgency, WorkQueue } from "./queue.js";
import type { Reporter, Subject } from "./reporter.js";

/** What is kept of a KronJob: never the object. */
interface Row {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly handle: number;
  memory: Memory;
  /** Of the last state that was thought through. */
  version: string;
  activeCount: number;
  wants: Urgency | null;
  failures: number;
}

interface ControllerOptions {
  readonly gateway: KubeGateway;
  readonly clock: Clock;
  readonly reporter: Reporter;
  /** Spreads retries. */
  readonly random: () => number;
  /** How long one that does not hold the Lease waits for the one that does. */
  readonly standbyMs: number;
}

export class Controller {
  readonly #options: ControllerOptions;
  readonly #rows = new Map<string, Row>();
  readonly #byUid = new Map<string, Row>();
  readonly #byHandle: (Row | null)[] = [];
  readonly #freeHandles: number[] = [];
  readonly #jobs = new JobCache();
  readonly #timeline = new Timeline();
  readonly #waker: Waker;
  readonly #queue: WorkQueue;
  readonly #lost = new LostTimes();
  #lostTimesNoted = 0;
  #isFirst = false;
  /** Every half minute at least; null: not begun. */
  #wokenMs: number | null = null;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#queue = new WorkQueue(options.clock, OPERATOR_LIMITS.inFlight, (key) => this.#look(key));
    const onWake = (wake: Wake): void => this.#woken(wake);
    this.#waker = new Waker(options.clock, () => this.#timeline.peekAt(), onWake);
  }

  get kronJobs(): number {
    return this.#rows.size;
  }

  get jobs(): number {
    return this.#jobs.size;
  }

  get active(): number {
    let count = 0;
    for (const { activeCount } of this.#rows.values()) count += activeCount;
    return count;
  }

  get queueDepth(): number {
    return this.#queue.depth;
  }

  get running(): number {
    return this.#queue.running;
  }

  /** For how long the oldest look has been under way, and since when nobody woke up: whether the loop turns. */
  get lag(): { readonly lookMs: number; readonly wakeMs: number } {
    const wakeMs = this.#wokenMs === null ? 0 : this.#options.clock.monotonicMs() - this.#wokenMs;
    return { lookMs: this.#queue.longestMs, wakeMs };
  }

  start(): void {
    this.#wokenMs = this.#options.clock.monotonicMs();
    this.#waker.arm();
  }

  /** Nobody has acted first since then, if that was longer than a Lease lasts. */
  begun(lastSignAt: EpochMs): void {
    const now = this.#options.clock.now();
    if (now - lastSignAt > LEASE_TIMES.durationMs) this.#lost.add({ cause: "down", fromAt: lastSignAt, untilAt: now });
  }

  /** What is under way is brought to its end: between a claim and its GO nobody should stop. */
  async stop(): Promise<void> {
    this.#waker.stop();
    await this.#queue.close();
  }

  /** Nothing new is begun, and nobody waits for what is under way. */
  halt(): void {
    this.#waker.stop();
    void this.#queue.close();
  }

  /** Whether this one acts first. Whoever does not, acts a little later: nothing depends on it. */
  setFirst(isFirst: boolean): void {
    this.#isFirst = isFirst;
    if (!isFirst) return;
    for (const row of this.#rows.values()) if (row.wants !== null) this.#queue.add(row.key, row.wants);
  }

  jobHandler(scope: Scope): WatchHandler<Job> {
    return {
      begin: () => this.#jobs.beginList(scope),
      put: (job) => {
        const view = viewOf(job);
        if (this.#jobs.put(scope, view)) this.#jobChanged(view);
      },
      gone: (job) => {
        const view = viewOf(job);
        this.#jobs.gone(view);
        this.#jobChanged(view);
      },
      end: () => {
        for (const view of this.#jobs.endList(scope)) this.#jobChanged(view);
      },
      trouble: (error, restart) => this.#options.reporter.watchTrouble("jobs", error, restart),
    };
  }

  kronJobHandler(scope: Scope): WatchHandler<KronJob> {
    let listed = new Set<string>();
    return {
      begin: () => {
        listed = new Set();
      },
      put: (kronJob) => {
        listed.add(kronJob.metadata.uid);
        this.#seen(kronJob);
      },
      gone: (kronJob) => this.#drop(keyOf(kronJob), kronJob.metadata.uid),
      end: () => {
        const gone = [...this.#rows.values()].filter((row) => isIn(scope, row) && !listed.has(row.uid));
        for (const { key, uid } of gone) this.#drop(key, uid);
        listed = new Set();
      },
      trouble: (error, restart) => this.#options.reporter.watchTrouble("kronjobs", error, restart),
    };
  }

  #seen(kronJob: KronJob): void {
    const { resourceVersion } = kronJob.metadata;
    const row = this.#rowOf(kronJob);
    // What we wrote ourselves was thought through when it was written.
    if (row.version === resourceVersion) return;
    row.version = resourceVersion;
    row.activeCount = kronJob.status?.active?.length ?? 0;
    this.#think(row, kronJob);
  }

  /** Without a request: is there anything to do? */
  #think(row: Row, kronJob: KronJob): void {
    const plan = this.#planOf(row, kronJob);
    if (plan === null) return;
    if (plan.effects.length === 0) {
      row.memory = plan.memory;
      this.#rest(row, plan.lookAgainAt);
      return;
    }
    // When it is due must be known even to one that leaves the rest to another.
    if (plan.isOnRecord) {
      const { generation, liveAt, dueAt, judgedAt } = plan.memory;
      row.memory = { ...remembered(row.memory, generation ?? 0), liveAt, dueAt, judgedAt };
    }
    const isUrgent = row.memory.judgedAt !== null || plan.effects.some(({ type }) => type === "go");
    this.#want(row, isUrgent ? "urgent" : "calm");
  }

  /** null: it cannot even be thought about. That is the trouble of this one KronJob, and of no other. */
  #planOf(row: Row, kronJob: KronJob): Plan | null {
    const now = this.#options.clock.now();
    try {
      return reconcile(this.#observed(kronJob), row.memory, now);
    } catch (error) {
      this.#failed(row, error, "think");
      return null;
    }
  }

  #want(row: Row, urgency: Urgency): void {
    row.wants = urgency;
    if (this.#isFirst) {
      this.#queue.add(row.key, urgency);
      return;
    }
    const { standbyMs } = this.#options;
    // Where nobody can have the Lease all of them stand by: everything is done, only later.
    this.#queue.add(row.key, urgency, urgency === "urgent" ? standbyMs : OPERATOR_TIMES.standbyCalmMs);
    const { dueAt, judgedAt } = row.memory;
    if (dueAt !== null && judgedAt === null) this.#schedule(row, dueAt);
  }

  #rest(row: Row, lookAgainAt: EpochMs | null): void {
    row.wants = null;
    row.failures = 0;
    this.#queue.remove(row.key);
    if (lookAgainAt === null) this.#timeline.remove(row.handle);
    else this.#schedule(row, lookAgainAt);
  }

  #schedule(row: Row, at: EpochMs): void {
    const first = this.#timeline.peekAt();
    this.#timeline.set(row.handle, at, row.memory.liveAt ?? 0);
    if (first === null || at < first) this.#waker.arm();
  }

  #woken(wake: Wake): void {
    const { now } = wake;
    this.#wokenMs = this.#options.clock.monotonicMs();
    this.#noteLost(wake);
    for (const handle of this.#timeline.popDue(now)) {
      const row = this.#byHandle[handle] ?? null;
      if (row === null) continue;
      // S2: every period that is due in this tick is judged by its one `now`.
      row.memory = ticked(row.memory, now);
      this.#want(row, row.memory.judgedAt !== null ? "urgent" : "calm");
    }
  }

  /** S6, S13: what the clock went over, and what was slept through, is told to everybody as such. */
  #noteLost(wake: Wake): void {
    const lost = lostBy(wake, OPERATOR_TIMES.lateWakeMs);
    if (lost === null) return;
    if (wake.jumpMs !== null) this.#options.reporter.clockJump(wake.jumpMs);
    this.#lost.add(lost);
    this.#lostTimesNoted += 1;
    for (const row of this.#rows.values()) {
      row.memory = afterLostTime(row.memory);
      // Where the clock is behind, nobody would look before it has caught up with what was planned.
      if (wake.jumpMs !== null && wake.jumpMs < 0) this.#want(row, row.wants ?? "calm");
    }
  }

  /** With what is about to be noted. */
  #lostTimes(): readonly LostTime[] {
    const wake = this.#waker.peek();
    const lost = lostBy(wake, OPERATOR_TIMES.lateWakeMs);
    const known = this.#lost.until(wake.now);
    return lost === null || lost.fromAt >= lost.untilAt ? known : [...known, lost];
  }

  #jobChanged({ ownerUid }: JobView): void {
    const row = ownerUid === null ? undefined : this.#byUid.get(ownerUid);
    if (row !== undefined) this.#want(row, row.wants ?? "calm");
  }

  /** A look with requests. Whatever goes wrong, it is looked at again. */
  async #look(key: string): Promise<void> {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    const { gateway, clock, reporter } = this.#options;
    const startedMs = clock.monotonicMs();
    const notedBefore = this.#lostTimesNoted;
    try {
      const kronJob = await gateway.readKronJob(row.namespace, row.name);
      // Gone, or another one by the same name: the watch is about to say so.
      if (kronJob === null || kronJob.metadata.uid !== row.uid) return;
      const now = clock.now();
      const first = beginPass(this.#observed(kronJob), row.memory, now);
      this.#remember(row, first);
      const last = await carryOut(first, gateway, clock, {
        news: (about, news) => reporter.news(about, news),
        refused: (_about, error) => reporter.trouble(subjectOf(row), error, "write"),
        lostTimes: () => this.#lostTimes(),
        moved: (pass) => this.#remember(row, pass),
      });
      this.#settled(row, last);
      if (this.#lostTimesNoted !== notedBefore) this.#lookAnew(row);
    } catch (error) {
      this.#failed(row, error, "look");
    } finally {
      reporter.looked((clock.monotonicMs() - startedMs) / 1000);
    }
  }

  /** Time was lost while it was looked at: what it has found is what was before. */
  #lookAnew(row: Row): void {
    if (this.#rows.get(row.key) !== row) return;
    row.memory = afterLostTime(row.memory);
    this.#want(row, row.wants ?? "calm");
  }

  #remember(row: Row, { memory, observed }: Pass): void {
    row.memory = memory;
    row.version = observed.kronJob.metadata.resourceVersion;
    row.activeCount = observed.kronJob.status?.active?.length ?? 0;
  }

  #settled(row: Row, { end, lookAgainAt }: Pass): void {
    if (this.#rows.get(row.key) !== row) return;
    if (end === "again") {
      this.#options.reporter.conflict(subjectOf(row));
      this.#retry(row, 0);
    } else {
      row.failures = 0;
      row.wants = null;
      if (lookAgainAt === null) this.#timeline.remove(row.handle);
      else this.#schedule(row, lookAgainAt);
    }
  }

  /** What is no answer of the API server will not pass by itself: 1 s doubling to 60 s (S18). */
  #failed(row: Row, error: unknown, operation: string): void {
    this.#options.reporter.trouble(subjectOf(row), error, operation);
    const isAnswer = error instanceof ApiFailure;
    this.#retry(row, isAnswer ? (error.answer.retryAfterMs ?? 0) : retryDelayMs(row.failures + 1));
  }

  #retry(row: Row, atLeastMs: number): void {
    if (this.#rows.get(row.key) !== row) return;
    const { retryFirstMs, retryLongestMs } = OPERATOR_TIMES;
    const delayMs = Math.min(retryFirstMs * 2 ** Math.min(row.failures, 16), retryLongestMs);
    row.failures += 1;
    row.wants ??= "calm";
    const spread = 0.5 + this.#options.random() / 2;
    this.#queue.add(row.key, row.wants, Math.max(atLeastMs, delayMs * spread));
  }

  #observed(kronJob: KronJob): Observed {
    const jobs = this.#jobs.of(kronJob.metadata.uid);
    const { tombstones } = this.#jobs;
    return { kronJob, jobs, direct: NONE, tombstones, lost: this.#lostTimes(), template: null };
  }

  #rowOf(kronJob: KronJob): Row {
    const key = keyOf(kronJob);
    const { namespace, name, uid } = kronJob.metadata;
    const known = this.#rows.get(key);
    if (known?.uid === uid) return known;
    if (known !== undefined) this.#drop(key, known.uid);
    const handle = this.#freeHandles.pop() ?? this.#byHandle.length;
    const row: Row = {
      key,
      namespace,
      name,
      uid,
      handle,
      memory: NOTHING_KNOWN,
      version: "",
      activeCount: 0,
      wants: null,
      failures: 0,
    };
    this.#rows.set(key, row);
    this.#byUid.set(uid, row);
    this.#byHandle[handle] = row;
    return row;
  }

  #drop(key: string, uid: string): void {
    const row = this.#rows.get(key);
    if (row === undefined || row.uid !== uid) return;
    this.#rows.delete(key);
    this.#byUid.delete(uid);
    this.#timeline.remove(row.handle);
    this.#byHandle[row.handle] = null;
    this.#freeHandles.push(row.handle);
    this.#queue.remove(key);
  }
}

function subjectOf({ namespace, name, uid, version }: Row): Subject {
  return { namespace, name, uid, resourceVersion: version };
}

const NONE: ReadonlySet<string> = new Set();
