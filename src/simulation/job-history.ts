/** What is known of one job at the end of a simulation: seen on the machine itself, or made durable by the daemon. */
import type { JobDefinition } from "../core/job/definition.js";
import { type EpochMs, MINUTE_MS } from "../core/time/instant.js";
import type { RecordedOutcome } from "./records.js";

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

export interface GapOnRecord {
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
}

/** Nominal times are whole minutes (S1): as such they are small integers, which a map holds without a box each. */
export function minuteOf(nominalAt: EpochMs): number {
  return Math.floor(nominalAt / MINUTE_MS);
}

export class JobHistory {
  readonly versions: VersionInForce[] = [];
  readonly pauses: { fromAt: EpochMs; untilAt: EpochMs }[] = [];
  readonly gaps: GapOnRecord[] = [];
  /** By minute: the outcome on record. */
  readonly outcomes = new Map<number, RecordedOutcome>();
  /** By minute: when the command of a period of its own began. */
  readonly starts = new Map<number, EpochMs>();
  /** Runs by hand and the like: source and slot. */
  readonly slots = new Set<string>();
  /** Attempts that run right now. */
  readonly running = new Set<string>();
  readonly exits = new Map<string, number>();
  /** Runs that ended badly by their own doing. */
  failed = 0;
  readonly reasons = new Map<string, number>();
  started = 0;
  manual = 0;
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

  pause(fromAt: EpochMs, untilAt: EpochMs): void {
    this.pauses.push({ fromAt, untilAt });
  }

  resume(at: EpochMs): void {
    const last = this.pauses.at(-1);
    if (last !== undefined && last.untilAt > at) last.untilAt = at;
  }
}

export function countUp<K>(counts: Map<K, number>, key: K, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
