/**
 * What of a state document decides whether its job can go on resting, read without reading all of it: at a restart that
 * is done for every job there is, and most of a document is history. Of about 16 µs for a job it saves 4 where there is no
 * history, and 11 where there are twenty runs.
 */

import { fieldsIn } from "../base/fields.js";
import type { JobStanding } from "../period/policy.js";
import {
  activeStates,
  OUTCOMES,
  type Outcome,
  STATE_VERSION,
  type StateDocument,
  standingOf,
} from "../state/document.js";
import { type EpochMs, parseInstant } from "../time/instant.js";
import { plainInstant } from "../time/plain-instant.js";
import { withoutHistory } from "./cut.js";

export interface DocumentMarks extends JobStanding {
  readonly identity: string;
  readonly definitionHash: string | null;
  readonly isRemoved: boolean;
  readonly hasRuns: boolean;
  readonly outcome: StateDocument["LastOutcome"];
  /** S46. */
  readonly hasStartFailure: boolean;
}

export function marksOf(document: StateDocument): DocumentMarks {
  return {
    ...standingOf(document),
    identity: document.Identity,
    definitionHash: document.DefinitionHash ?? null,
    isRemoved: document.RemovedAt !== undefined,
    hasRuns: activeStates(document).length > 0,
    outcome: document.LastOutcome,
    hasStartFailure: document.StartFailure !== undefined,
  };
}

/**
 * The marks of a text that Kron wrote itself, when it is of the usual kind: nothing runs, nothing is paused or removed.
 * null for any other: `parseDocument` reads it, and says what is wrong with it. Not for texts that somebody else may have
 * written: what is in the history is not looked at.
 */
export function marksOfUsual(text: string): DocumentMarks | null {
  const raw = parseWithoutHistory(text);
  if (raw === null || raw["Version"] !== STATE_VERSION || hasUnusual(raw)) return null;
  const { Identity: identity, DefinitionHash: definitionHash = null } = raw;
  const lastHandledAt = instantOrEmpty(raw["LastHandledPeriodID"]);
  const definedAt = instantOrAbsent(raw["DefinedAt"]);
  const carriedAt = instantOrAbsent(raw["CarriedPeriodID"]);
  const lastRunAt = instantOrAbsent(raw["LastRunAt"]);
  const slots = raw["LastSlot"] as JobStanding["slots"];
  const isUsual =
    isName(identity) &&
    isOutcome(raw["LastOutcome"], lastHandledAt === null) &&
    !Number.isNaN(lastHandledAt) &&
    !Number.isNaN(definedAt) &&
    !Number.isNaN(carriedAt) &&
    !Number.isNaN(lastRunAt) &&
    areSlots(slots) &&
    !Number.isNaN(instantOrEmpty(raw["LastChosenTime"])) &&
    instantOrEmpty(raw["LastNominalTime"]) === lastHandledAt &&
    (definitionHash === null || isName(definitionHash));
  if (!isUsual) return null;
  const standing = {
    lastHandledAt,
    definedAt,
    carriedAt,
    pausedUntilAt: null,
    evaluatesFromAt: null,
    lastRunAt,
    slots,
  };
  const outcome = raw["LastOutcome"] as Outcome | "";
  const hasStartFailure = raw["StartFailure"] !== undefined;
  return {
    ...standing,
    hints: undefined,
    identity,
    definitionHash,
    isRemoved: false,
    hasRuns: false,
    outcome,
    hasStartFailure,
  };
}

type RawDocument = Readonly<Record<string, unknown>>;

/** Shorter texts are parsed as they are: looking for what can be left out would cost as much. */
const SHORT_CHARS = 700;

function parseWithoutHistory(text: string): RawDocument | null {
  const shorter = text.length < SHORT_CHARS ? null : withoutHistory(text);
  return (shorter === null ? null : fieldsIn(shorter)) ?? fieldsIn(text);
}

/** Fields that most documents lack, and those whose form is judged by the full reader. */
const UNUSUAL = [
  "ActiveExecution",
  "OtherActive",
  "Pause",
  "RemovedAt",
  "Hints",
  "EvaluatesFrom",
  "Retry",
  "Boot",
] as const;

function hasUnusual(raw: RawDocument): boolean {
  for (const name of UNUSUAL) if (raw[name] !== undefined) return true;
  const reason = raw["LastReason"];
  return reason !== undefined && typeof reason !== "string";
}

/** null: empty; NaN: not in the usual form. */
function instantOrEmpty(value: unknown): EpochMs | null {
  if (value === "") return null;
  return typeof value === "string" ? plainInstant(value) : Number.NaN;
}

function instantOrAbsent(value: unknown): EpochMs | null {
  if (value === undefined) return null;
  return typeof value === "string" ? plainInstant(value) : Number.NaN;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isOutcome(value: unknown, isEmpty: boolean): boolean {
  return isEmpty ? value === "" : OUTCOMES.includes(value as Outcome);
}

/** By source, instants in the form in which Kron writes them. */
function areSlots(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((at) => typeof at === "string" && parseInstant(at).ok);
}
