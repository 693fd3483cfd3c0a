/** What `why` goes by, what it answers, and what a period is to it. */
import { compileRule } from "../decision/compile.js";
import { decide } from "../decision/decide.js";
import type { CompiledRule, Decision, DecisionRecord } from "../decision/model.js";
import type { JobDefinition } from "../job/definition.js";
import { dueAt } from "../period/occasion.js";
import type { StateDocument } from "../state/document.js";
import type { EndingFields } from "../state/ending.js";
import type { EpochMs } from "../time/instant.js";
import type { LedgerEntry, PeriodEntry, RunEntry } from "./records.js";

export type WhyKind =
  | "executed"
  | "running"
  | "skipped"
  | "missed"
  | "unschedulable"
  | "not_yet"
  | "waiting"
  | "before_definition"
  | "suspended"
  | "paused"
  | "removed"
  | "redefined"
  | "down"
  | "not_evaluated"
  | "not_a_period"
  | "older_than_ledger"
  | "unknown";

export interface WhyVersion {
  readonly definedAt: EpochMs;
  /** null: removed from here on. */
  readonly definition: JobDefinition | null;
}

export interface WhySpan {
  readonly bootedAt: EpochMs;
  readonly at: EpochMs;
}

/** Whether somebody is there who could still start something. */
export type DaemonPresence = "running" | "stopping" | "none";

export interface WhyFacts {
  readonly identity: string;
  readonly daemon: DaemonPresence;
  /**
   * Absent: there is one daemon alone. Among several nodes the pool that the job lies in, where no node looks after it now; null: one
   * does.
   */
  readonly unserved?: string | null;
  /** The period that is asked about: its nominal time. */
  readonly nominalAt: EpochMs;
  readonly now: EpochMs;
  /** Oldest first. */
  readonly versions: readonly WhyVersion[];
  readonly document: StateDocument | null;
  /** Of the period itself, and the newest ones before it. */
  readonly entries: readonly LedgerEntry[];
  /** When a daemon was alive, oldest first; the last one up to `now` where one is. */
  readonly spans: readonly WhySpan[];
  /** What is older is not kept. */
  readonly keptFromAt: EpochMs;
}

export interface WhyRun extends EndingFields {
  readonly pid: number | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

export interface WhyAnswer {
  readonly identity: string;
  readonly period_id: string;
  readonly kind: WhyKind;
  /** The reason on record, as the ledger has it; of `waiting`: `stopping` or `no_daemon` where nobody is going to start it. */
  readonly reason: string | null;
  /** One sentence for people. */
  readonly text: string;
  readonly chosen_time: string | null;
  readonly window_start: string | null;
  readonly window_end: string | null;
  readonly run: WhyRun | null;
  /** S43: the attempts after the first; absent: there were none. */
  readonly attempts?: readonly WhyRun[];
  /** Of `down`, `paused`, `removed`, `redefined` and `not_evaluated`; null where it is open. */
  readonly from: string | null;
  readonly until: string | null;
  /** Of `not_a_period`: the periods before and after. */
  readonly nearest: readonly string[];
  /** The decision on record. */
  readonly decision: DecisionRecord | null;
}

/** What one branch finds; everything else is filled in. */
export interface Finding {
  readonly kind: WhyKind;
  readonly text: string;
  readonly reason?: string | null;
  readonly run?: RunEntry | null;
  readonly from?: EpochMs | null;
  readonly until?: EpochMs | null;
  readonly nearest?: readonly string[];
  readonly record?: PeriodEntry;
}

export interface Period {
  readonly version: WhyVersion;
  readonly definition: JobDefinition;
  readonly compiled: CompiledRule;
  readonly decision: Decision;
  readonly dueAt: EpochMs;
}

/** null: the version has no such period. */
export function periodUnder(version: WhyVersion, nominalAt: EpochMs): Period | null {
  const { definition } = version;
  if (definition === null) return null;
  const compiled = compileRule(definition);
  if (!compiled.schedule.matches(nominalAt)) return null;
  const decision = decide(compiled, nominalAt);
  return { version, definition, compiled, decision, dueAt: dueAt(decision) };
}
