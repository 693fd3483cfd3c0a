/** Ledger records read back (S36): what `why` needs of them. A record of a kind or form that is not known says nothing. */

import { type Fields, fieldsIn, numberOf, textOf } from "../base/fields.js";
import type { DecisionRecord } from "../decision/model.js";
import type { Clamp } from "../governor/governor.js";
import type { Hint } from "../governor/hint.js";
import type { Outcome } from "../state/document.js";
import { type Ending, HOLDER_KINDS, type HolderKind, readEnding } from "../state/ending.js";
import { type EpochMs, instantOrNull } from "../time/instant.js";

export interface PeriodEntry {
  readonly kind: "period";
  readonly at: EpochMs;
  /** null: the period lies before its definition (S14). */
  readonly outcome: Outcome | null;
  readonly reason: string | null;
  readonly recordedAt: string;
  /** Of `missed`: when nobody could look. */
  readonly fromAt: EpochMs | null;
  readonly untilAt: EpochMs | null;
  /** Of `missed`: what stood in the way, where the reason does not say it. */
  readonly startFailure: string | null;
  readonly decision: DecisionRecord | null;
}

export interface RunEntry {
  readonly kind: "run";
  readonly at: EpochMs;
  readonly periodId: string;
  readonly source: string | null;
  /** null: what recorded it did not say. */
  readonly attemptId: string | null;
  readonly pid: number | null;
  readonly holder: HolderKind;
  /** Among several nodes. */
  readonly node: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** null: it is not known to have ended. */
  readonly ending: Ending | null;
  /** S43: of a further attempt, the period and the how manieth; null of any other run. */
  readonly retryOf: string | null;
  readonly attempt: number | null;
  /** S41: which bound of the pace has moved it; null: none, or one of a version that did not say so. */
  readonly clamped: Clamp | null;
}

/** S43: what was last planned after a failed attempt of the period. */
export interface RetryEntry {
  readonly kind: "retry";
  readonly at: EpochMs;
  readonly attempt: number;
  readonly due: string;
  readonly isDropped: boolean;
}

/** S44: what was due outside the schedule, and was not started. */
export interface SlotEntry {
  readonly kind: "slot";
  readonly at: EpochMs;
  readonly source: string;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly recordedAt: string;
}

/** S46: what was due outside the schedule, and could not be started from then on. */
interface StartFailureEntry {
  readonly kind: "start_failed";
  readonly at: EpochMs;
  readonly source: string;
  readonly reason: string;
  readonly recordedAt: string;
}

/** S44: a boot of the machine, as the job was told of it. */
export interface BootEntry {
  readonly kind: "boot";
  readonly at: EpochMs;
  /** Whether a run was due. */
  readonly isDue: boolean;
  readonly notedAt: string;
}

export interface GapEntry {
  readonly kind: "gap";
  readonly at: EpochMs;
  readonly lastAt: EpochMs;
  readonly count: number;
  readonly isCountExact: boolean;
  readonly notedAt: string;
  /** null: nobody knows (S13). */
  readonly reason: string | null;
  /** Of time that was lost; null: it is not on record. */
  readonly fromAt: EpochMs | null;
  readonly untilAt: EpochMs | null;
  /** Of `hinted`: which one stood in for the schedule; null where the record does not say it. */
  readonly hint: Hint | null;
}

export interface PauseEntry {
  readonly kind: "paused";
  readonly at: EpochMs;
  readonly untilAt: EpochMs;
  readonly reason: string;
  readonly by?: string;
}

interface ResumeEntry {
  readonly kind: "resumed";
  readonly at: EpochMs;
}

export interface HintEntry {
  readonly kind: "hint";
  readonly at: EpochMs;
  readonly hint: Hint;
}

export interface HintEndEntry {
  readonly kind: "hint_end";
  readonly at: EpochMs;
  readonly hint: string;
}

export type LedgerEntry =
  | PeriodEntry
  | RunEntry
  | GapEntry
  | PauseEntry
  | ResumeEntry
  | HintEntry
  | HintEndEntry
  | RetryEntry
  | SlotEntry
  | StartFailureEntry
  | BootEntry;

interface RawRecord {
  readonly at: EpochMs;
  readonly kind: string;
  readonly text: string;
}

/** null for what cannot be read and for kinds that answer nothing. */
export function readLedgerEntry({ at, kind, text }: RawRecord): LedgerEntry | null {
  const raw = fieldsIn(text);
  if (raw === null) return null;
  if (kind === "run" || kind.startsWith("run:")) return runEntry(at, raw);
  if (kind.startsWith("hint_end:")) return { kind: "hint_end", at, hint: textOf(raw["hint"]) ?? "" };
  if (kind.startsWith("slot:")) return slotEntry(at, raw);
  if (kind.startsWith("start_failed:")) return startFailureEntry(at, raw);
  switch (kind) {
    case "boot":
      return { kind, at, isDue: textOf(raw["slot"]) !== null, notedAt: textOf(raw["at"]) ?? "" };
    case "period":
      return periodEntry(at, raw);
    case "gap":
      return gapEntry(at, raw);
    case "paused":
      return { kind, at, untilAt: instantOrNull(textOf(raw["until"])) ?? at, ...saidOf(raw) };
    case "resumed":
      return { kind, at };
    case "hint":
      return hintEntry(at, raw);
    case "retry":
      return retryEntry(at, raw);
    default:
      return null;
  }
}

function periodEntry(at: EpochMs, raw: Fields): PeriodEntry {
  const { decision } = raw;
  return {
    kind: "period",
    at,
    outcome: textOf(raw["outcome"]) as Outcome | null,
    reason: textOf(raw["reason"]),
    recordedAt: textOf(raw["at"]) ?? "",
    fromAt: instantOrNull(textOf(raw["from"])),
    untilAt: instantOrNull(textOf(raw["to"])),
    startFailure: textOf(raw["start_failure"]),
    // Written by us from a value of this type; `kron verify` is there for those who doubt it.
    decision: typeof decision === "object" ? (decision as DecisionRecord | null) : null,
  };
}

function runEntry(at: EpochMs, raw: Fields): RunEntry {
  return {
    kind: "run",
    at,
    periodId: textOf(raw["period_id"]) ?? "",
    source: textOf(raw["source"]),
    attemptId: textOf(raw["attempt_id"]),
    pid: numberOf(raw["pid"]),
    holder: holderOf(raw["holder"]),
    node: textOf(raw["node"]),
    startedAt: textOf(raw["started_at"]),
    endedAt: textOf(raw["ended_at"]),
    ending: textOf(raw["ended_at"]) === null ? null : readEnding(raw),
    retryOf: textOf(raw["retry_of"]),
    attempt: numberOf(raw["attempt"]),
    clamped: clampIn(raw),
  };
}

function clampIn({ clamped: by, clamped_from: from }: Fields): Clamp | null {
  const fromAt = instantOrNull(textOf(from));
  return (by === "min" || by === "max") && fromAt !== null ? { by, fromAt } : null;
}

function holderOf(value: unknown): HolderKind {
  return HOLDER_KINDS.find((kind) => kind === value) ?? "process";
}

function gapEntry(at: EpochMs, raw: Fields): GapEntry {
  return {
    kind: "gap",
    at,
    lastAt: instantOrNull(textOf(raw["last"])) ?? at,
    count: numberOf(raw["count"]) ?? 1,
    isCountExact: raw["is_count_exact"] === true,
    notedAt: textOf(raw["at"]) ?? "",
    reason: textOf(raw["reason"]),
    fromAt: instantOrNull(textOf(raw["from"])),
    untilAt: instantOrNull(textOf(raw["to"])),
    hint: hintOf(raw["hint"]),
  };
}

function hintOf(value: unknown): Hint | null {
  if (typeof value !== "object" || value === null) return null;
  const raw = value as Fields;
  const [intervalMs, nextRunAt, expiresAt] = [
    numberOf(raw["interval_ms"]),
    instantOrNull(textOf(raw["next_run_at"])),
    instantOrNull(textOf(raw["expires_at"])),
  ];
  if (expiresAt === null) return null;
  const about = { expiresAt, ...saidOf(raw) };
  if (intervalMs !== null) return { kind: "interval", intervalMs, ...about };
  return nextRunAt === null ? null : { kind: "oneshot", nextRunAt, ...about };
}

/** Why, and who has said so, where that is on record. */
function saidOf(raw: Fields): { readonly reason: string; readonly by?: string } {
  const by = textOf(raw["by"]);
  return { reason: textOf(raw["reason"]) ?? "", ...(by === null ? {} : { by }) };
}

function slotEntry(at: EpochMs, raw: Fields): SlotEntry | null {
  const [source, outcome, reason] = [textOf(raw["source"]), textOf(raw["outcome"]), textOf(raw["reason"])];
  if (source === null || outcome === null) return null;
  const recordedAt = textOf(raw["at"]) ?? "";
  return { kind: "slot", at, source, outcome: outcome as Outcome, reason: reason ?? "", recordedAt };
}

function startFailureEntry(at: EpochMs, raw: Fields): StartFailureEntry | null {
  const [source, reason] = [textOf(raw["source"]), textOf(raw["reason"])];
  if (source === null || reason === null) return null;
  return { kind: "start_failed", at, source, reason, recordedAt: textOf(raw["at"]) ?? "" };
}

function retryEntry(at: EpochMs, raw: Fields): RetryEntry | null {
  const [attempt, due] = [numberOf(raw["attempt"]), textOf(raw["due"])];
  return attempt === null || due === null
    ? null
    : { kind: "retry", at, attempt, due, isDropped: raw["dropped"] === true };
}

function hintEntry(at: EpochMs, raw: Fields): HintEntry | null {
  const hint = hintOf(raw);
  return hint === null ? null : { kind: "hint", at, hint };
}
