/**
 * What the supervisor needs and what it offers. It owns the lock term, the store and the timeline; hosts wire it to the
 * real ports, tests to simulated ones.
 */

import type { KronError } from "../../core/base/errors/kron-error.js";
import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { Settings } from "../../core/config/settings.js";
import type { RecordVersions } from "../../core/decision/record.js";
import type { HintsInForce } from "../../core/governor/governor.js";
import type { Hint, HintKind } from "../../core/governor/hint.js";
import type { JobDefinition } from "../../core/job/definition.js";
import type { OccasionSource } from "../../core/period/occasion.js";
import type { Ending, HolderKind, RunResult } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Activation } from "../../machines/activation.js";
import type { CorruptCopies } from "../../persist/corrupt-copies.js";
import type { LockTerm } from "../../persist/lock.js";
import type { StateReader, StateStore } from "../../persist/store.js";
import type { Clock } from "../clock.js";
import type { NoticeWriter } from "../messenger/notices.js";
import type { Phase } from "../phase.js";
import type { PlanOptions } from "../pool/types.js";
import type { Runner } from "../runner/port.js";
import type { ListFilter, ListOrder, StandingName } from "./rows/job-query.js";
import type { AwayEnd, AwayRun, ElsewherePort, ElsewhereRun, EndAnswer, NodeNews } from "./run/away.js";
import type { Gates } from "./run/gates.js";
import type { ObserverSlot } from "./run/observer.js";
import type { Wanted } from "./start/survey.js";
import type { JobObject } from "./write/contribution.js";
import type { SupervisorEvent } from "./write/events.js";

export interface SupervisorPorts {
  readonly clock: Clock;
  readonly store: StateStore;
  readonly term: LockTerm;
  readonly runner: Runner;
  /** Shared by all supervisors of a node, because processes are what it has so many of; without it, one of its own. */
  readonly gates?: Gates;
  /** Of the daemon around it; without it, one of its own, which begins where a lock and a store are there. */
  readonly phase?: Phase;
  readonly copies: CorruptCopies;
  readonly bootId: string;
  /** The name of this node among others on the same store; absent where there is one alone. */
  readonly node?: string;
  /** Ends runs of its jobs that are on other nodes; absent: nobody can. */
  readonly elsewhere?: ElsewherePort;
  /**
   * C14: runs that go on here, when it looks after their jobs no longer. Called in the turn from which on it hears of none of
   * them any more, so that no end is heard by nobody. Absent: they are adopted by whoever comes.
   */
  readonly onAway?: (runs: readonly AwayRun[]) => void;
  readonly versions: RecordVersions;
  /** Where the output of runs goes: a directory of its own for each identity. */
  readonly outputDirectory: string;
  /** What every job's environment begins with, such as PATH and LANG. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** Never the same twice, across restarts too. */
  newId(): string;
  onEvent(event: SupervisorEvent): void;
  /** The end of a run is durable. */
  readonly onRunEnded?: (identity: string, ending: Ending, endedAt: EpochMs) => void;
  /** What a start needs to know of every job on record: `DecisionPool.planAll`. Without it, it is computed here. */
  readonly plan?: (store: StateReader, options: PlanOptions) => Promise<unknown>;
  /** Who notes what people are to be told; without it nobody is told. */
  readonly notices?: NoticeWriter;
  /** For an inspector. */
  readonly observer?: ObserverSlot;
}

export interface ActiveRunStatus {
  readonly attemptId: string;
  readonly periodId: string;
  readonly source: string | null;
  readonly pid: number;
  /** Absent for a process. */
  readonly holder?: HolderKind;
  readonly startedAt: string;
}

/** A run that has ended, as far as a job's history reaches. */
export interface EndedRunStatus {
  readonly periodId: string;
  readonly source: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string;
  /** null: not known. */
  readonly durationMs: number | null;
  /** From the second that was chosen for it until it began; null: not known. */
  readonly lateMs: number | null;
  readonly result: RunResult;
  /** As people are told: an exit code, a signal, a status. */
  readonly ending: Ending;
}

interface UsualLength {
  readonly medianMs: number;
  readonly longestMs: number;
  /** Of so many runs. */
  readonly runs: number;
}

interface StartFailureStatus {
  readonly source: string;
  readonly slot: string;
  /** As that of a period that was missed: `not_started:command-not-found`. */
  readonly reason: string;
  readonly since: string;
}

export interface JobStatus {
  readonly identity: string;
  /** Of the job of a crontab alone, whose identity is a hash: its file, and what its line runs. */
  readonly called?: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly standing: StandingName;
  /** The pool that it lies in, where no node looks after it now; absent: one does. */
  readonly unserved?: string;
  readonly pausedUntil: string | null;
  readonly pauseReason: string | null;
  /** Who paused it; null: it is not paused, or by whoever runs the daemon. */
  readonly pausedBy: string | null;
  /** The live period and its chosen time; null when the schedule has none left, or nothing is planned. */
  readonly nextPeriodId: string | null;
  readonly nextChosenTime: string | null;
  /** Where the next run comes from: `cron`, `interval`, `hint-interval` or `hint-oneshot`. */
  readonly nextSource: OccasionSource | null;
  /** Of a job that runs once: whether its time is ahead, it has run, or never will; null for every other job. */
  readonly once: "ahead" | "done" | "never" | null;
  readonly lastPeriodId: string | null;
  readonly lastOutcome: string | null;
  readonly lastReason: string | null;
  /** S46: what keeps what is due from being started, since when; null: nothing does, as far as is known. */
  readonly startFailure: StartFailureStatus | null;
  /** The newest run that has ended, whatever it came from. */
  readonly lastRun: EndedRunStatus | null;
  /** The run of `lastPeriodId`; null: it had none, goes on, or is not on record any more. */
  readonly lastPeriodRun: EndedRunStatus | null;
  /** Runs in a row, up to the newest one, that did not succeed; as far as the history reaches. */
  readonly failures: number;
  /** How long its runs take that succeed, as far as the history reaches; null: there were too few. */
  readonly usual: UsualLength | null;
  /** When the newest run began, whatever it came from: intervals count from it. */
  readonly lastRunAt: string | null;
  /** Those in force (S41). */
  readonly hints: HintsInForce;
  readonly active: readonly ActiveRunStatus[];
}

export interface ListOptions {
  /** Where the last page ended. */
  readonly afterIdentity?: string;
  readonly limit?: number;
  /** Only these. */
  readonly identities?: readonly string[];
}

/** A page of the jobs that somebody looks for. */
export interface JobQuery {
  readonly filter: ListFilter;
  readonly order: ListOrder;
  /** `after`: behind this one in the order of names, or from the first on; whatever `order` says. */
  readonly from: { readonly after: string | null } | { readonly offset: number };
  readonly limit: number;
}

export interface JobPage {
  /** What has changed since the jobs were looked for is left out. */
  readonly rows: readonly JobStatus[];
  /** null: of jobs with a tag it is known only where an offset asks for it. */
  readonly total: number | null;
  /** In the order of names, where the next page begins; null: there is none. All pages behind it may be empty. */
  readonly next: string | null;
  /** Nodes that did not answer: what they look after is neither among the rows nor counted. */
  readonly absent?: readonly string[];
  /** Between nodes: the shards that were looked at for it. */
  readonly shards?: readonly string[];
}

export interface LiveJob {
  readonly definition: JobDefinition;
  readonly activation: Activation;
}

export interface DaemonStatus {
  readonly jobs: number;
  readonly active: number;
  readonly armed: number;
  readonly nextDueAt: EpochMs | null;
  readonly bootedAt: EpochMs;
  /** Jobs that rest on without a look, by what the daemon before has left. Absent: all were read, or it is one of several. */
  readonly unread?: number;
}

export interface ChangedJob {
  readonly identity: string;
  /** Top-level fields that differ. */
  readonly fields: readonly string[];
  /** The chosen time of the first unhandled period, before and after, where it moves. */
  readonly movesFrom: string | null;
  readonly movesTo: string | null;
}

/** S16: what a reload changes. */
export interface PlanReport {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly ChangedJob[];
  readonly unchanged: number;
}

/** Computed, and nothing has changed. Another reload in between would make it untrue. */
export interface PlannedReload {
  readonly report: PlanReport;
  /** Jobs that stay as they are although the new set has nothing of them. */
  readonly kept: readonly string[];
  /** Puts exactly this in force; resolves when every job that is concerned has been told, and that is durable. */
  apply(settings: Settings): Promise<PlanReport>;
}

export type RunNowResult =
  | {
      readonly ok: true;
      readonly slot: string;
      readonly attemptId: string;
      readonly pid: number;
      readonly holder: HolderKind;
    }
  /** `isBusy`: it was to run only while nothing of the job does, and something did. `code`: it could not be made ready. */
  | { readonly ok: false; readonly message: string; readonly isBusy?: true; readonly code?: ErrorCode };

export interface Supervisor {
  /** Recovery, then planning; resolves when scheduling has begun. Rejects with a KronError that refuses the start. */
  start(wanted: readonly JobDefinition[] | Wanted, settings: Settings): Promise<void>;
  /** `keeps`: whether a job of which there is nothing stays as it is, because its new definition is invalid (S35). */
  plan(wanted: readonly JobDefinition[] | Wanted, keeps: (identity: string) => boolean): Promise<PlannedReload>;
  /** Plans it and applies that; `kept`: the identities that `plan` would ask for. */
  reload(wanted: readonly JobDefinition[] | Wanted, settings: Settings, kept: readonly string[]): Promise<PlanReport>;
  /** One job that no configuration has, defined anew or for the first time; what is kept of it becomes durable with it. */
  define(definition: JobDefinition, objects: readonly JobObject[]): Promise<void>;
  /** Such a job, taken out. False: there is none, and nothing was written. */
  remove(identity: string, objects: readonly JobObject[]): Promise<boolean>;
  /** S40: a manual run, outside the job's own periods; `onlyIfIdle`: and beside no other run of the job. */
  runNow(identity: string, onlyIfIdle?: boolean): Promise<RunNowResult>;
  /**
   * S17: `catchesUp`: what is current when it ends may still run; by default it may not. Of this and what follows: `by` is
   * who wants it; absent: whoever runs the daemon. False: there is no such job, or a person has said otherwise than a planner.
   */
  pause(identity: string, untilAt: EpochMs, reason: string, catchesUp?: boolean, by?: string): Promise<boolean>;
  resume(identity: string, by?: string): Promise<boolean>;
  /**
   * S41: replaces a hint of its kind. `used`: its instant, or a later one, was claimed for a hint before (S40). `held`: a
   * person has said otherwise than a planner.
   */
  hint(identity: string, hint: Hint): Promise<"set" | "used" | "held" | "unknown">;
  clearHints(identity: string, kind: HintKind | "all", by?: string): Promise<boolean>;
  /** Ends what is running, or only the run of one period or slot; the number of runs that were asked to end. */
  cancel(identity: string, periodId?: string): Promise<number>;
  /** C14: a run of one of its jobs on another node has ended, as that node says. */
  ended(identity: string, end: AwayEnd): Promise<EndAnswer>;
  /** C15: what is known of a node; runs that are lost with it are closed. Resolves with their number, when that is durable. */
  hearOfNode(node: string, news: NodeNews): Promise<number>;
  /** C14: runs of its jobs on other nodes. */
  elsewhere(): readonly ElsewhereRun[];
  /** In the order of their identities. */
  list(options?: ListOptions): Promise<readonly JobStatus[]>;
  find(query: JobQuery): Promise<JobPage>;
  /** It is there, and is not being taken out. */
  has(identity: string): boolean;
  /** Of all jobs that are configured, in no order that means anything. */
  identities(): Iterable<string>;
  /** Jobs that are not at rest, as they are now. */
  live(): Iterable<LiveJob>;
  status(): DaemonStatus;
  /** No step, commit or call of a runner is under way. */
  whenIdle(): Promise<void>;
  /** No new trigger, gates closed; what runs goes on (S29). `graceful` waits until nothing runs any more. */
  stop(options: { readonly graceful: boolean }): Promise<void>;
  /** Resolves when going on could start something twice: the host logs and exits. */
  readonly failed: Promise<KronError>;
}
