/** Recomputes decision records from nothing but themselves and names every field that comes out otherwise. */
import { type Fields, isFields } from "../base/fields.js";
import { formatInstant, SECOND_MS } from "../time/instant.js";
import { compileRule } from "./compile.js";
import { decide } from "./decide.js";
import type { CompiledRule, DecisionRecord } from "./model.js";
import { type RecordVersions, toDecisionRecord } from "./record.js";
import { type RecordDifference, type RecordedDecision, readDecisionRecord } from "./record-reader.js";

export interface Verification {
  readonly ok: boolean;
  readonly differences: readonly RecordDifference[];
  /** What does not make a record wrong but may explain why it differs. */
  readonly notes: readonly string[];
  /** The record as it should be; null when the recorded one cannot be recomputed. */
  readonly recomputed: DecisionRecord | null;
}

/** What a decision brings forth. The other fields go into it: they are equal by construction, but for their spelling. */
const COMPUTED_FIELDS = [
  "period_id",
  "period_key",
  "nominal_time",
  "window_start",
  "window_end",
  "chosen_time",
  "seed_hash",
  "attempts",
  "unschedulable",
  "reason",
] as const satisfies readonly (keyof DecisionRecord)[];

const VERSION_FIELDS = ["tz_version", "engine_version"] as const satisfies readonly (keyof DecisionRecord)[];

const STATED_FIELDS = [
  "schedule",
  "window_duration",
  "timezone",
  "dist_params",
  "constraints_applied",
] as const satisfies readonly (keyof DecisionRecord)[];

/** `here` are the versions of this program: they explain differences and never cause one. */
export function verifyRecord(record: unknown, here: RecordVersions): Verification {
  const fields = isFields(record) ? record : {};
  const notes = versionNotes(fields, here);
  const read = readDecisionRecord(record);
  if (!read.ok) {
    return failed(read.error, notes);
  }
  const compiled = compileRule(read.value.rule);
  const stray = strayNominal(compiled, read.value, fields["nominal_time"]);
  if (stray !== null) {
    return failed([stray], notes);
  }
  const recomputed = toDecisionRecord(compiled, decide(compiled, read.value.nominalAt), here);
  const differences = [
    ...COMPUTED_FIELDS.flatMap((field) => difference(field, fields[field], recomputed[field])),
    ...VERSION_FIELDS.flatMap((field) => missingVersion(field, fields[field])),
  ];
  return {
    ok: differences.length === 0,
    differences,
    notes: [...notes, ...spellingNotes(fields, recomputed)],
    recomputed,
  };
}

function failed(differences: readonly RecordDifference[], notes: readonly string[]): Verification {
  return { ok: false, differences, notes, recomputed: null };
}

function strayNominal(
  { schedule, rule }: CompiledRule,
  { nominalAt }: RecordedDecision,
  recorded: unknown,
): RecordDifference | null {
  if (nominalAt % SECOND_MS === 0 && schedule.matches(nominalAt)) {
    return null;
  }
  const before = schedule.previous(nominalAt);
  const message = `${formatInstant(nominalAt)} is not a nominal time of "${rule.schedule}" in ${rule.timezone}`;
  const expected = before === null ? null : formatInstant(before);
  return { field: "nominal_time", kind: "not-nominal", recorded, expected, message };
}

function difference(field: string, recorded: unknown, expected: string | number | boolean): RecordDifference[] {
  if (recorded === expected) {
    return [];
  }
  const kind = recorded === undefined ? "missing" : "different";
  const message =
    recorded === undefined
      ? `${field} is missing, it should be ${JSON.stringify(expected)}`
      : `${field} is ${JSON.stringify(recorded)}, it should be ${JSON.stringify(expected)}`;
  return [{ field, kind, recorded, expected, message }];
}

/** Any version will do, but without one a difference could not be explained. */
function missingVersion(field: string, recorded: unknown): RecordDifference[] {
  if (typeof recorded === "string") {
    return [];
  }
  const kind = recorded === undefined ? "missing" : "unreadable";
  return [{ field, kind, recorded, expected: null, message: `${field} must be a text` }];
}

function versionNotes({ tz_version, engine_version }: Fields, here: RecordVersions): string[] {
  return [
    ...versionNote("time zone data", tz_version, here.tzVersion),
    ...versionNote("Kron", engine_version, here.engineVersion),
  ];
}

function versionNote(what: string, recorded: unknown, here: string): string[] {
  return typeof recorded !== "string" || recorded === here
    ? []
    : [`decided with ${what} ${recorded}, verified with ${here}`];
}

function spellingNotes(record: Fields, recomputed: DecisionRecord): string[] {
  return STATED_FIELDS.filter((field) => !sameJson(record[field], recomputed[field])).map(
    (field) => `${field} is not in canonical form, which is ${JSON.stringify(recomputed[field])}`,
  );
}

/** Whether everything that `expected` has is the same in `recorded`, which may have more. */
function sameJson(recorded: unknown, expected: unknown): boolean {
  if (!isFields(expected)) {
    return recorded === expected;
  }
  return isFields(recorded) && Object.entries(expected).every(([key, value]) => sameJson(recorded[key], value));
}
