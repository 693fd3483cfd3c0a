/**
 * The actor above all jobs: it has the lock term, the store and the jobs, and is the one writer for everything. It decides
 * nothing itself: definitions come from the host, judgements from the machines, and the phase says when its schedule is
 * opened and closed and when everything ends; it answers operators.
 */

import type { KronError } from "../../core/base/errors/kron-error.js";
import type { Settings } from "../../core/config/settings.js";
import { SETTINGS_DEFAULTS } from "../../core/config/settings.js";
import type { Hint, HintKind } from "../../core/governor/hint.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { freeSlotAt } from "../../core/period/policy.js";
import { activeRuns, type StateDocument } from "../../core/state/document.js";
import { isHintUsed } from "../../core/state/hint-transitions.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../../core/time/instant.js";
import { documentOfActivation } from "../../machines/activation.js";
import { idOf, isUnclaimed } from "../../machines/draft.js";
import { type ActivationEvent, isHeldByPerson } from "../../machines/step.js";
import { mayStart, phaseName } from "../../machines/supervisor-phase.js";
import type { Timer } from "../clock.js";
import { type Carriers, Phase } from "../phase.js";
import type {
  DaemonStatus,
  JobPage,
  JobQuery,
  JobStatus,
  ListOptions,
  LiveJob,
  PlannedReload,
  PlanReport,
  RunNowResult,
  Supervisor,
  SupervisorPorts,
} from "./port.js";
import type { JobEntry } from "./rows/job-entry.js";
import { JobLists } from "./rows/job-lists.js";
import { JobSet } from "./rows/job-set.js";
import type { RunPlace } from "./run/arm-request.js";
import type { AwayEnd, ElsewhereRun, EndAnswer, NodeNews } from "./run/away.js";
import { SupervisorCore } from "./run/core.js";
import { RunsElsewhere } from "./run/elsewhere.js";
import type { AttemptNews } from "./run/executor.js";
import { Schedule } from "./run/schedule.js";
import { Boot } from "./start/boot.js";
import { fenceAfterFailover } from "./start/failover.js";
import { farewellOf } from "./start/farewell.js";
import { Reload } from "./start/reload.js";
import type { Wanted } from "./start/survey.js";
import { type WantedJobs, wantedFrom } from "./start/wanted-jobs.js";
import type { JobObject } from "./write/contribution.js";

/** S36. */
const ALIVE_EVERY_MS = 30 * SECOND_MS;
const BUSY = { ok: false, message: "something of the job is running already", isBusy: true } as const;

function notBegun({ message, code }: Extract<AttemptNews, { readonly kind: "failed" }>): RunNowResult {
  return { ok: false, message, ...(code === undefined ? {} : { code }) };
}

export function createSupervisor(ports: SupervisorPorts): Supervisor {
  return new SupervisorActor(ports);
}

class SupervisorActor implements Supervisor {
  readonly failed: Promise<KronError>;
  readonly #ports: SupervisorPorts;
  readonly #phase: Phase;
  readonly #jobs = new JobSet();
  readonly #lists: JobLists;
  readonly #core: SupervisorCore;
  readonly #schedule: Schedule;
  readonly #reloads: Reload;
  readonly #elsewhere: RunsElsewhere;
  readonly #bootedAt: EpochMs;
  #settings: Settings = SETTINGS_DEFAULTS;
  /** Where the present span of being alive begins: the clock may go back behind the boot. */
  #aliveFromAt: EpochMs;
  #aliveTimer: Timer | null = null;
  /** The start that has come to its end; null: none has, and nobody knows all jobs. */
  #started: Boot | null = null;
  /** S6. */
  #hasGoneBack = false;
  #settleWaiters: (() => void)[] = [];
  /** One after another: each one goes by what the one before has left. */
  #lastReload: Promise<unknown> = Promise.resolve();
  #drained: Promise<void> = Promise.resolve();
  readonly #leavePhase: () => void;

  constructor(ports: SupervisorPorts) {
    this.#ports = ports;
    this.#phase = ports.phase ?? Phase.ofSupervisor();
    let tellFailed = (_error: KronError): void => {};
    this.failed = new Promise((resolve) => {
      tellFailed = resolve;
    });
    this.#bootedAt = ports.clock.now();
    this.#aliveFromAt = this.#bootedAt;
    this.#core = new SupervisorCore(ports, this.#phase, {
      place: () => this.#runPlace(),
      entryOf: (identity) => this.#jobs.get(identity),
      settings: () => this.#settings,
      onSettled: (entry) => this.#settled(entry),
      onIdle: (entry) => this.#rest(entry),
      isBehind: (entry, now) => this.#schedule.isBehind(entry, now),
    });
    this.#elsewhere = new RunsElsewhere(ports, this.#phase, this.#jobs, this.#core);
    const onJump = (now: EpochMs, jumpMs: number): void => this.#jumped(now, jumpMs);
    this.#schedule = new Schedule(ports, this.#jobs, this.#core, this.#phase, onJump);
    this.#reloads = new Reload(ports, this.#core, this.#jobs, () => this.#settings);
    const documentOf = (identity: string): Promise<StateDocument> => this.#reloads.documentOf(identity);
    this.#lists = new JobLists(ports, this.#jobs, this.#core.records, documentOf);
    this.#leavePhase = this.#phase.carryOut(this.#carriers(tellFailed));
  }

  async start(definitions: readonly JobDefinition[] | Wanted, settings: Settings): Promise<void> {
    this.#useSettings(settings);
    await fenceAfterFailover({ ...this.#ports, onEvent: (event) => this.#core.emit(event) }, settings);
    const now = this.#ports.clock.now();
    this.#aliveFromAt = now;
    const wanted = definitions === "as-stored" ? definitions : wantedOf(definitions);
    const boot = new Boot(this.#ports, this.#core, this.#jobs, this.#schedule, settings);
    try {
      await boot.run(wanted, now, () => this.#phase.tell({ type: "RECOVERED" }));
    } catch (error) {
      // Nothing has begun, and the host may try it with another supervisor: this one opens nothing any more.
      if (phaseName(this.#phase.snapshot) === "recovering") this.#leavePhase();
      throw error;
    }
    this.#started = boot;
    // A daemon has doors to open first, and says so itself.
    if (this.#ports.phase === undefined) this.#phase.tell({ type: "READY" });
  }

  async plan(wanted: readonly JobDefinition[] | Wanted, keeps: (identity: string) => boolean): Promise<PlannedReload> {
    const change = await this.#reloads.plan(wanted === "as-stored" ? wanted : wantedOf(wanted), keeps);
    const { report, kept } = change;
    const apply = (settings: Settings): Promise<PlanReport> => {
      this.#useSettings(settings);
      return this.#reloads.apply(change);
    };
    return { report, kept, apply };
  }

  reload(wanted: readonly JobDefinition[] | Wanted, settings: Settings, kept: readonly string[]): Promise<PlanReport> {
    const reloaded = this.#lastReload.then(async () => {
      const planned = await this.plan(wanted, (identity) => kept.includes(identity));
      return planned.apply(settings);
    });
    this.#lastReload = reloaded.catch(() => undefined);
    return reloaded;
  }

  define(definition: JobDefinition, objects: readonly JobObject[]): Promise<void> {
    return this.#reloads.define(definition, objects);
  }

  remove(identity: string, objects: readonly JobObject[]): Promise<boolean> {
    return this.#reloads.remove(identity, objects);
  }

  async runNow(identity: string, onlyIfIdle = false): Promise<RunNowResult> {
    const entry = this.#jobs.present(identity);
    if (entry === null) return { ok: false, message: `no job "${identity}"` };
    if (!mayStart(this.#phase.snapshot)) return { ok: false, message: "the daemon is stopping" };
    let slotAt = this.#ports.clock.now();
    const attemptId = this.#ports.newId();
    const isBusy = (): boolean => {
      const { activation } = entry;
      return onlyIfIdle && activation !== null && activeRuns(documentOfActivation(activation)).length > 0;
    };
    let wasBusy = false;
    return new Promise((resolve, reject) => {
      this.#core.executor.watch(attemptId, (news) => {
        if (news.kind === "failed" && (wasBusy || isBusy())) resolve(BUSY);
        else if (news.kind === "failed") resolve(notBegun(news));
        else resolve({ ok: true, slot: formatInstant(slotAt), attemptId, pid: news.pid, holder: news.holder });
      });
      const judged = () => {
        wasBusy = isBusy();
        if (entry.activation !== null) {
          slotAt = freeSlotAt(documentOfActivation(entry.activation).LastSlot, "manual", slotAt);
        }
        return { type: "RUN", source: "manual", slotAt, ...(onlyIfIdle && { onlyIfIdle }) } as const;
      };
      const told = this.#core.ask(entry, { event: judged, now: null, attemptId });
      told.then(() => {
        const isBegun = entry.activation?.attempts.some((attempt) => idOf(attempt) === attemptId);
        const message = "this slot was used already";
        if (isBegun !== true) this.#core.executor.tellWatcher(attemptId, { kind: "failed", message });
      }, reject);
    });
  }

  pause(identity: string, untilAt: EpochMs, reason: string, catchesUp = false, by?: string): Promise<boolean> {
    return this.#wanted(identity, { type: "PAUSE", untilAt, reason, catchesUp, ...(by === undefined ? {} : { by }) });
  }

  resume(identity: string, by?: string): Promise<boolean> {
    return this.#wanted(identity, { type: "RESUME", ...(by === undefined ? {} : { by }) });
  }

  async hint(identity: string, hint: Hint): Promise<"set" | "used" | "held" | "unknown"> {
    let isUsed = false;
    const isSet = await this.#wanted(identity, { type: "HINT", hint }, (document) => {
      isUsed = isHintUsed(document, hint);
    });
    if (!this.#jobs.has(identity)) return "unknown";
    return isUsed ? "used" : isSet ? "set" : "held";
  }

  clearHints(identity: string, kind: HintKind | "all", by?: string): Promise<boolean> {
    return this.#wanted(identity, { type: "UNHINT", kind, ...(by === undefined ? {} : { by }) });
  }

  /** False: there is no such job, or a person has said otherwise. `look`: at what is on record when its turn has come. */
  async #wanted(
    identity: string,
    event: Extract<ActivationEvent, { readonly type: "PAUSE" | "RESUME" | "HINT" | "UNHINT" }>,
    look: (document: StateDocument) => void = () => undefined,
  ): Promise<boolean> {
    const entry = this.#jobs.present(identity);
    if (entry === null) return false;
    if (event.type !== "RESUME") this.#core.executor.unprepare(entry);
    let isHeld = false;
    const judged = () => {
      if (entry.activation !== null) {
        const document = documentOfActivation(entry.activation);
        look(document);
        isHeld = isHeldByPerson(document, event, this.#ports.clock.now());
      }
      return event;
    };
    await this.#core.ask(entry, { event: judged, now: null });
    return !isHeld;
  }

  async cancel(identity: string, periodId?: string): Promise<number> {
    const handle = this.#jobs.handleOf(identity);
    const entry = handle === null ? null : this.#jobs.awakeAt(handle);
    const claimed = (entry?.activation?.attempts ?? []).filter(({ execution }) => !isUnclaimed(execution));
    const wanted = claimed.map(({ execution }) => execution.context.attempt);
    const named = wanted.filter((attempt) => periodId === undefined || attempt.periodId === periodId);
    for (const { attemptId } of named) {
      if (entry !== null) this.#core.deliver(entry, { type: "END", attemptId, reason: "cancelled" });
    }
    return named.length;
  }

  list(options: ListOptions = {}): Promise<readonly JobStatus[]> {
    return this.#lists.list(options);
  }

  find(query: JobQuery): Promise<JobPage> {
    return this.#lists.find(query);
  }

  has(identity: string): boolean {
    const handle = this.#jobs.handleOf(identity);
    return handle !== null && !this.#jobs.rows.isRemoved(handle);
  }

  *identities(): Generator<string> {
    const { rows } = this.#jobs;
    for (const handle of rows.handles()) if (!rows.isRemoved(handle)) yield rows.names.identityOf(handle);
  }

  *live(): Iterable<LiveJob> {
    for (const entry of this.#jobs.entries()) {
      const { activation } = entry;
      // What of an entry is only being prepared or looked at may not have been read yet.
      if (activation !== null) yield { definition: entry.definition, activation };
    }
  }

  status(): DaemonStatus {
    const [bootedAt, core, jobs] = [this.#bootedAt, this.#core, this.#jobs];
    let active = 0;
    for (const { activation } of jobs.entries()) active += activation?.attempts.length ?? 0;
    const nextDueAt = jobs.rows.firstWakeAt();
    const { unread = null } = this.#started ?? {};
    const about = unread === null ? {} : { unread };
    return {
      jobs: jobs.rows.presentCount,
      active,
      armed: core.executor.gates.armedCount,
      nextDueAt,
      bootedAt,
      ...about,
    };
  }

  ended(identity: string, end: AwayEnd): Promise<EndAnswer> {
    return this.#elsewhere.ended(identity, end);
  }

  hearOfNode(node: string, news: NodeNews): Promise<number> {
    return this.#elsewhere.hear(node, news);
  }

  elsewhere(): readonly ElsewhereRun[] {
    return this.#elsewhere.list();
  }

  whenIdle(): Promise<void> {
    return this.#core.whenIdle();
  }

  async stop({ graceful }: { readonly graceful: boolean }): Promise<void> {
    const { failure } = this.#phase;
    if (failure !== null) throw failure;
    this.#phase.tell({ type: "DRAIN", waitsForRuns: graceful });
    await this.#drained;
  }

  /** What its part of the phases is; the rest is the host's. */
  #carriers(tellFailed: (error: KronError) => void): Carriers {
    return {
      startScheduling: () => {
        this.#schedule.open();
        this.#markAlive();
      },
      stopScheduling: () => this.#closeSchedule(),
      drain: () => {
        this.#drained = this.#drain();
        this.#drained.catch((error: unknown) => this.#phase.fail(error));
      },
      halt: () => {
        this.#core.halt();
        this.#wakeSettleWaiters();
      },
      // What waits behind its gate may not be released any more, whatever a failed write has become.
      closeGates: () => void this.#core.executor.shut().catch(() => undefined),
      reportError: () => {
        const { failure } = this.#phase;
        if (failure !== null) tellFailed(failure);
      },
    };
  }

  async #drain(): Promise<void> {
    const { executor } = this.#core;
    for (const entry of this.#jobs.entries()) executor.unprepare(entry);
    await this.#core.whenIdle();
    if (this.#phase.snapshot.context.waitsForRuns) await this.#runsEnded();
    await executor.closeGates();
    // With it goes what was in no hurry.
    this.#core.note({ alive: this.#aliveSpan() });
    do await this.#core.whenIdle();
    while (!this.#core.isIdle);
    this.#bidFarewell();
    // From here to the end of the turn nothing is heard.
    this.#ports.onAway?.(this.#elsewhere.staying(this.#runPlace()));
    this.#phase.tell({ type: "DRAINED" });
  }

  /** Only who has told all jobs of the present time knows what to say of them. */
  #bidFarewell(): void {
    const { clock, store, term } = this.#ports;
    if (store.farewell === undefined || this.#started === null) return;
    // S6: what is on record may be ahead of the clock, of which every start has to speak.
    const isBehind = this.#started.isClockBehind || this.#hasGoneBack;
    if (isBehind || !this.#schedule.knowsTheTime()) return;
    const words = farewellOf(this.#jobs, clock.now());
    if (words !== null) store.farewell.leave(term, [words]);
  }

  /** Those of other nodes are theirs to see to. Nothing is triggered any more, but a run that has a timeout still ends at it. */
  async #runsEnded(): Promise<void> {
    while (this.#core.executor.countHere > 0) {
      const timer = this.#armTimeout();
      await new Promise<void>((resolve) => this.#settleWaiters.push(resolve));
      timer?.cancel();
      const { failure } = this.#phase;
      if (failure !== null) throw failure;
    }
  }

  #armTimeout(): Timer | null {
    const { clock } = this.#ports;
    const timed = [...this.#jobs.entries()].flatMap((entry) =>
      (entry.activation?.attempts ?? []).flatMap(({ execution }) => {
        const { attempt, timeoutAt } = execution.context;
        return execution.matches("running") && timeoutAt !== null ? [{ entry, attempt, timeoutAt }] : [];
      }),
    );
    if (timed.length === 0) return null;
    const firstAt = timed.reduce((least, { timeoutAt }) => Math.min(least, timeoutAt), Number.POSITIVE_INFINITY);
    return clock.after(Math.max(0, firstAt - clock.now()), () => {
      for (const { entry, attempt, timeoutAt } of timed) {
        if (timeoutAt > firstAt) continue;
        this.#core.deliver(entry, { type: "END", attemptId: attempt.attemptId, reason: "timeout" });
      }
    });
  }

  #closeSchedule(): void {
    this.#schedule.close();
    this.#aliveTimer?.cancel();
    this.#aliveTimer = null;
  }

  #runPlace(): RunPlace {
    const { outputDirectory, baseEnv } = this.#ports;
    const { killGraceMs, http } = this.#settings;
    return { outputDirectory, baseEnv, killGraceMs, http };
  }

  /** What is under way keeps what it began with; everything else goes by the new ones from its next step on. */
  #useSettings(settings: Settings): void {
    this.#settings = settings;
    this.#core.executor.gates.limitProcesses(settings.maxArmed);
    for (const entry of this.#jobs.entries()) entry.useSettings(settings);
  }

  #settled(entry: JobEntry): void {
    this.#schedule.place(entry);
    this.#rest(entry);
    this.#wakeSettleWaiters();
  }

  /** An entry is there for as long as anything concerns its job; the row of a job that is gone goes with it. */
  #rest(entry: JobEntry): void {
    if (entry.life !== "resting") return;
    if (!entry.isRemoved) {
      this.#jobs.drop(entry);
      return;
    }
    this.#schedule.remove(entry);
    this.#jobs.remove(entry);
  }

  #wakeSettleWaiters(): void {
    for (const waiter of this.#settleWaiters.splice(0)) waiter();
  }

  #jumped(now: EpochMs, jumpMs: number): void {
    if (now < this.#aliveFromAt) this.#aliveFromAt = now;
    if (jumpMs < 0) this.#hasGoneBack = true;
    const fields = { jump_ms: jumpMs };
    this.#core.emit({ at: now, event: "clock_jump", component: "scheduler", level: "warn", fields });
  }

  #aliveSpan(): { readonly bootedAt: EpochMs; readonly at: EpochMs } {
    const at = this.#ports.clock.now();
    return { bootedAt: Math.min(this.#aliveFromAt, at), at };
  }

  #markAlive(): void {
    this.#aliveTimer = this.#ports.clock.after(ALIVE_EVERY_MS, () => {
      this.#core.note({ alive: this.#aliveSpan() });
      this.#markAlive();
    });
  }
}

function wantedOf(definitions: readonly JobDefinition[] | WantedJobs): WantedJobs {
  return "indexOf" in definitions && "size" in definitions ? definitions : wantedFrom(definitions);
}
