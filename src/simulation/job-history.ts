/** What is known of one job at the end of a simulation: seen on the machine itself, or made durable by the daemon. */
import type { Settings } from "../core/config/settings.js";
import { HINT_KINDS, type Hint, type HintKind } from "../core/governor/hint.js";
import type { JobDefinition } from "../core/job/definition.js";
import { FOR_GOOD_AT } from "../core/period/policy.js";
import { type EpochMs, SECOND_MS } from "../core/time/instant.js";
import type { RecordedOutcome } from "./records.js";
import type { TriedPeriod } from "./tried-oracle.js";

/** A definition from the moment a daemon was given it. */
export interface VersionInForce {
  readonly fromAt: EpochMs;
  /** null: the job was removed. */
  readonly definition: JobDefinition | null;
}

export interface Span {
  readonly fromAt: EpochMs;
  /** Not included. */
  readonly untilAt: EpochMs;
}

export interface HintSpan {
  readonly fromAt: EpochMs;
  untilAt: EpochMs;
  readonly hint: Hint;
  /** From when on the daemon had it on record for certain; null: perhaps never. */
  surelyFromAt: EpochMs | null;
}

interface PauseSpan {
  readonly fromAt: EpochMs;
  untilAt: EpochMs;
  readonly catchesUp: boolean;
  /** From when on the daemon had it on record for certain; null: perhaps never. */
  surelyFromAt: EpochMs | null;
}

export interface SlotStart {
  readonly source: string;
  readonly slotAt: EpochMs;
  readonly startedAt: EpochMs;
  /** Of a further attempt: the period that it is one of. */
  readonly retryOf?: string | null;
}

/** What went on around the jobs, in instants of the wall clock. */
export interface Circumstances {
  readonly fromAt: EpochMs;
  readonly endAt: EpochMs;
  readonly settings: Settings;
  /** No daemon ran, or it was stopped, or the clock was moved over it. */
  readonly absences: readonly Span[];
  /** The clock was moved back over these instants: they came twice. */
  readonly repeats: readonly Span[];
  /** When a daemon started for the first time in each boot of the machine. */
  readonly boots: readonly EpochMs[];
}

interface GapOnRecord {
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
}

/** Nominal times are whole seconds (S1): as such they are small integers, which a map holds without a box each, until 2038. */
export function secondOf(nominalAt: EpochMs): number {
  return Math.floor(nominalAt / SECOND_MS);
}

export class JobHistory {
  readonly versions: VersionInForce[] = [];
  readonly pauses: PauseSpan[] = [];
  /** How often it has paused itself (S51). */
  stops = 0;
  readonly gaps: GapOnRecord[] = [];
  /** By second: the outcome on record. */
  readonly outcomes = new Map<number, RecordedOutcome>();
  /** By second: when the command of a period of its own began. */
  readonly starts = new Map<number, EpochMs>();
  /** Hints that may have been in force. */
  readonly hints: HintSpan[] = [];
  /** Runs beside the schedule: source and slot. */
  readonly slots = new Set<string>();
  /** The same with when they began. */
  readonly slotStarts: SlotStart[] = [];
  /** Attempts that run right now. */
  readonly running = new Set<string>();
  readonly exits = new Map<string, number>();
  /** Runs that ended badly by their own doing. */
  failed = 0;
  readonly reasons = new Map<string, number>();
  started = 0;
  manual = 0;
  intervals = 0;
  hinted = 0;
  retried = 0;
  atBoot = 0;
  /** By period: when an attempt of it ended badly. */
  readonly failures = new Map<string, EpochMs[]>();
  /** S24: what is on record as tried. */
  tried: TriedPeriod | null = null;
  overlaps = 0;
  peak = 0;
  refused = 0;
  maxLatenessMs = 0;

  constructor(readonly identity: string) {}

  get definition(): JobDefinition | null {
    return this.versions.at(-1)?.definition ?? null;
  }

  define(definition: JobDefinition | null, fromAt: EpochMs): void {
    this.versions.push({ definition, fromAt });
  }

  /** A newer one takes the place of an older one. */
  pause(fromAt: EpochMs, untilAt: EpochMs, catchesUp: boolean): PauseSpan {
    this.resume(fromAt);
    const span = { fromAt, untilAt, catchesUp, surelyFromAt: null };
    this.pauses.push(span);
    return span;
  }

  /** S51: by itself, until somebody resumes it. */
  stop(at: EpochMs): void {
    this.pause(at, FOR_GOOD_AT, false);
    this.stops += 1;
  }

  /** One of a kind: a newer one ends the older. */
  hint(fromAt: EpochMs, hint: Hint): HintSpan {
    this.#endHints(fromAt, hint.kind);
    const span = { fromAt, untilAt: hint.expiresAt, hint, surelyFromAt: null };
    this.hints.push(span);
    return span;
  }

  unhint(at: EpochMs): void {
    for (const kind of HINT_KINDS) this.#endHints(at, kind);
  }

  #endHints(at: EpochMs, kind: HintKind): void {
    for (const span of this.hints) if (span.hint.kind === kind && span.untilAt > at) span.untilAt = at;
  }

  resume(at: EpochMs): void {
    const last = this.pauses.at(-1);
    if (last !== undefined && last.untilAt > at) last.untilAt = at;
  }
}

export function countUp<K>(counts: Map<K, number>, key: K, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
