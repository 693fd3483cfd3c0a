/**
 * Text → state document. Two kinds of trouble that must not be confused (S32): a text that is not JSON is corrupt, and
 * its job starts again behind a fence; readable JSON that is no document this version can use refuses the start.
 */
import { isFields } from "../base/fields.js";
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { formatInstant, parseInstant } from "../time/instant.js";
import { OUTCOMES, type Outcome, type StateDocument } from "./document.js";
import { stateFileName } from "./file-name.js";
import { MIGRATIONS, type Migration, migrate, type RawDocument } from "./migrate.js";

/** `fileName` is the key under which the text was found: an identity that does not match it is refused. */
export function parseDocument(
  text: string,
  fileName: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Result<StateDocument, Problem> {
  const raw = parseObject(text);
  if (!raw.ok) {
    return raw;
  }
  const migrated = migrate(raw.value, migrations);
  if (!migrated.ok) {
    return migrated;
  }
  const problem = firstProblem(migrated.value, fileName);
  return problem === null ? ok(normalise(migrated.value)) : err(problem);
}

function parseObject(text: string): Result<RawDocument, Problem> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err({ code: "state-document-corrupt", message: "the state document is not JSON", path: [] });
  }
  return isFields(value)
    ? ok(value)
    : err({ code: "state-incompatible", message: "the state document is not a JSON object", path: [] });
}

function firstProblem(raw: RawDocument, fileName: string): Problem | null {
  for (const [key, check] of DOCUMENT_CHECKS) {
    const expected = check(raw[key]);
    if (expected !== null) {
      return incompatible(key, raw[key] === undefined ? "is missing" : `is not ${expected}`);
    }
  }
  if (stateFileName(String(raw["Identity"])) !== fileName) {
    return incompatible("Identity", "does not belong to the name under which the document is kept");
  }
  if ((raw["LastHandledPeriodID"] === "") !== (raw["LastOutcome"] === "")) {
    return incompatible("LastOutcome", "contradicts LastHandledPeriodID: one is empty and the other is not");
  }
  // A period's id is its nominal time: two different ones would be two answers to which period was handled.
  if (canonical(raw["LastNominalTime"]) !== canonical(raw["LastHandledPeriodID"])) {
    return incompatible("LastNominalTime", "is not the nominal time of LastHandledPeriodID");
  }
  if (objectsOf(raw["OtherActive"]).length > 0 && !isFields(raw["ActiveExecution"])) {
    return incompatible("OtherActive", "lists older runs although ActiveExecution is absent");
  }
  return null;
}

function incompatible(key: string, trouble: string): Problem {
  return { code: "state-incompatible", message: `${key} ${trouble}`, path: [key] };
}

/** Returns what was expected, or null when the value is all right. */
type Check = (value: unknown) => string | null;

const text: Check = (value) => (typeof value === "string" ? null : "a text");
const nonEmptyText: Check = (value) => (typeof value === "string" && value !== "" ? null : "a non-empty text");
const flag: Check = (value) => (typeof value === "boolean" ? null : "true or false");
const wholeNumber: Check = (value) => (Number.isSafeInteger(value) ? null : "a whole number");
const pid: Check = (value) => (Number.isSafeInteger(value) && Number(value) > 0 ? null : "a process id");
const positive: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) > 0 ? null : "a positive whole number";
const timestamp: Check = (value) =>
  typeof value === "string" && parseInstant(value).ok ? null : "an RFC 3339 timestamp";
const timestampOrEmpty: Check = (value) => (value === "" ? null : timestamp(value));
const outcome: Check = (value) => (OUTCOMES.includes(value as Outcome) ? null : `one of ${OUTCOMES.join(", ")}`);
const outcomeOrEmpty: Check = (value) => (value === "" ? null : outcome(value));

/** STATE writes optional values as pointers and slices: absent and null mean the same. */
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null ? null : check(value);

function objectOf(name: string, checks: Readonly<Record<string, Check>>): Check {
  const fields = Object.entries(checks);
  return (value) => (isFields(value) && fields.every(([key, check]) => check(value[key]) === null) ? null : name);
}

const listOf =
  (name: string, check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => check(item) === null) ? null : name;

const slots: Check = (value) =>
  isFields(value) && Object.values(value).every((at) => timestamp(at) === null) ? null : "a map of timestamps";

const remote: Check = (value) => (value === "request" || value === "job" ? null : "request or job");

const bound: Check = (value) => (value === "min" || value === "max" ? null : "min or max");

const active = objectOf("a running execution", {
  PeriodID: timestamp,
  PID: pid,
  StartedAt: timestamp,
  ChosenTime: timestampOrEmpty,
  PIDStartTicks: optional(wholeNumber),
  BootID: optional(text),
  AttemptID: optional(text),
  Source: optional(nonEmptyText),
  Confirmed: optional(flag),
  Holder: optional(remote),
  Node: optional(nonEmptyText),
  RetryOf: optional(timestamp),
  Attempt: optional(positive),
  ClampedBy: optional(bound),
  ClampedFrom: optional(timestamp),
});

const entry = objectOf("a history entry", {
  PeriodID: text,
  Outcome: outcome,
  NominalTime: text,
  ChosenTime: text,
  CompletedAt: text,
  ExitCode: optional(wholeNumber),
  Reason: optional(text),
  StartedAt: optional(text),
  Signal: optional(text),
  Source: optional(text),
  Holder: optional(remote),
  Status: optional(wholeNumber),
  DurationMs: optional(wholeNumber),
  RetryOf: optional(text),
  Attempt: optional(wholeNumber),
});

const HINT = { ExpiresAt: timestamp, SetAt: timestamp, Reason: text, By: optional(text) };
const hints = objectOf("hints", {
  Interval: optional(objectOf("a hint", { IntervalMs: positive, ...HINT })),
  Oneshot: optional(objectOf("a hint", { NextRunAt: timestamp, ...HINT })),
});

const DOCUMENT_CHECKS: readonly [key: string, check: Check][] = Object.entries({
  Version: nonEmptyText,
  Identity: nonEmptyText,
  LastHandledPeriodID: timestampOrEmpty,
  LastOutcome: outcomeOrEmpty,
  LastChosenTime: timestampOrEmpty,
  LastNominalTime: timestampOrEmpty,
  ActiveExecution: optional(active),
  History: optional(listOf("a list of history entries", entry)),
  OtherActive: optional(listOf("a list of running executions", active)),
  LastSlot: optional(slots),
  LastReason: optional(text),
  DefinedAt: optional(timestamp),
  DefinitionHash: optional(text),
  CarriedPeriodID: optional(timestamp),
  Pause: optional(
    objectOf("a pause", {
      Until: timestamp,
      Reason: text,
      Since: optional(timestamp),
      CatchUp: optional(flag),
      By: optional(text),
    }),
  ),
  RemovedAt: optional(timestamp),
  LastRunAt: optional(timestamp),
  Hints: optional(hints),
  EvaluatesFrom: optional(timestamp),
  Retry: optional(objectOf("a retry", { PeriodID: timestamp, Attempt: positive, At: timestamp })),
  Boot: optional(
    objectOf("a boot", { ID: text, Due: optional(objectOf("an instant", { Slot: timestamp, Since: timestamp })) }),
  ),
  StartFailure: optional(
    objectOf("a failing start", { Source: nonEmptyText, Slot: timestamp, Code: nonEmptyText, Since: timestamp }),
  ),
  Tally: optional(objectOf("a tally", { Failures: optional(positive), Runs: optional(positive) })),
});

/**
 * One form in memory: null only where the type has it, and period ids as canonical UTC, since the same instant written
 * with another offset is the same period.
 */
function normalise(raw: RawDocument): StateDocument {
  const { ActiveExecution, History, OtherActive, ...rest } = withoutNulls(raw);
  const document = {
    ...rest,
    LastHandledPeriodID: canonical(raw["LastHandledPeriodID"]),
    ActiveExecution: isFields(ActiveExecution) ? withoutNulls(ActiveExecution) : null,
    History: objectsOf(History).map(withExitCode),
    ...(OtherActive === undefined ? {} : { OtherActive: objectsOf(OtherActive).map(withoutNulls) }),
  };
  // Every field has passed its check above.
  return document as unknown as StateDocument;
}

/** Its exit code alone may be null: that of a request always is. */
function withExitCode(entry: RawDocument): RawDocument {
  for (const key in entry) {
    if (entry[key] === null && key !== "ExitCode") return { ExitCode: null, ...withoutNulls(entry) };
  }
  return entry["ExitCode"] === undefined ? { ...entry, ExitCode: null } : entry;
}

/** Most documents hold none, and are taken as they are. */
function withoutNulls(value: RawDocument): RawDocument {
  for (const key in value) {
    if (value[key] === null) {
      return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
    }
  }
  return value;
}

function objectsOf(value: unknown): readonly RawDocument[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function canonical(value: unknown): string {
  const at = parseInstant(String(value));
  return at.ok ? formatInstant(at.value) : "";
}
