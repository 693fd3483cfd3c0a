/**
 * The expression module of the Declarative Scheduler: POSIX expressions, and questions to them. All instants are epoch
 * milliseconds (a Date is taken as well); where no zone is given, that of the host is meant.
 */
import type { CronFields } from "../core/cron/fields.js";
import { parseKronCron } from "../core/cron/kron-dialect.js";
import { parsePosixCron } from "../core/cron/posix-dialect.js";
import { compileSchedule, type Schedule } from "../core/cron/schedule.js";
import { type EpochMs, MINUTE_MS } from "../core/time/instant.js";
import { zoneOf } from "../core/time/zone.js";
import { CronCalculationError, FieldParseError, InvalidCronExpressionError } from "./errors.js";
import { hostTimeZone } from "./host.js";

/**
 * The five sets of values, sorted, and which of the two day fields was literally `*`: when neither is, a day matches if
 * either field does.
 */
export type CronExpression = CronFields;

export function startOfMinute(at: EpochMs): EpochMs {
  return Math.floor(at / MINUTE_MS) * MINUTE_MS;
}

/**
 * `posix`: what the specification allows, and the default everywhere. `kron`: also steps, names, macros, and 7 for
 * Sunday.
 */
export type CronDialect = "posix" | "kron";

export interface DialectChoice {
  readonly dialect?: CronDialect | undefined;
}

/** How the `kron` dialect begins a complaint about one field. */
const OF_ONE_FIELD = /^(minute|hour|day|month|weekday) field: (.*)$/s;

function readKron(expression: string): CronExpression {
  const parsed = parseKronCron(expression);
  if (parsed.ok) return parsed.value;
  const { message, hint, span } = parsed.error;
  const advice = hint === undefined ? "" : ` (${hint})`;
  const [, field, reason] = OF_ONE_FIELD.exec(message) ?? [];
  if (field === undefined) throw new InvalidCronExpressionError(expression, "expression", `${message}${advice}`);
  const value = expression.slice(span?.start ?? 0, span?.end);
  const cause = new FieldParseError(`${field} field ${reason}`, value, field);
  throw new InvalidCronExpressionError(expression, field, `${reason}${advice}`, cause);
}

/**
 * Reads a cron expression: a POSIX one, unless another dialect is asked for.
 *
 * @throws InvalidCronExpressionError
 * @example
 * ```ts
 * import { parseCron } from "kron/scheduler";
 *
 * const cron = parseCron("0 12 1,15 * 1-5");
 * console.log(cron.days, cron.weekdays, cron.dayIsStar); // [1, 15] [1, 2, 3, 4, 5] false
 * console.log(parseCron("0-40/20 * * * MON", { dialect: "kron" }).minutes); // [0, 20, 40]
 * ```
 */
export function parseCron(expression: string, { dialect = "posix" }: DialectChoice = {}): CronExpression {
  if (typeof expression !== "string") {
    throw new InvalidCronExpressionError(String(expression), "expression", "must be a string");
  }
  if (dialect === "kron") return readKron(expression);
  if (dialect !== "posix") throw new TypeError(`unknown dialect ${JSON.stringify(dialect)}: write "posix" or "kron"`);
  const parsed = parsePosixCron(expression);
  if (parsed.ok) return parsed.value;
  const { field, reason, fieldValue } = parsed.error;
  const cause = field === "expression" ? undefined : new FieldParseError(`${field} field ${reason}`, fieldValue, field);
  throw new InvalidCronExpressionError(expression, field, reason, cause);
}

function epochMs(at: EpochMs | Date): EpochMs {
  const ms = typeof at === "number" ? at : at.getTime();
  if (!Number.isFinite(ms)) throw new RangeError("not an instant: expected epoch milliseconds or a valid Date");
  return ms;
}

function scheduleOf(cron: CronExpression | string, timeZone: string): Schedule {
  const zone = zoneOf(timeZone);
  if (!zone.ok) throw new RangeError(zone.error.message);
  return compileSchedule(typeof cron === "string" ? parseCron(cron) : cron, zone.value);
}

/** Whether the civil minute that contains `at` matches. */
export function matchesCron(cron: CronExpression | string, at: EpochMs | Date, timeZone = hostTimeZone()): boolean {
  return scheduleOf(cron, timeZone).matches(startOfMinute(epochMs(at)));
}

function found(cron: CronExpression | string, at: EpochMs, occurrence: EpochMs | null, direction: string): EpochMs {
  if (occurrence !== null) return occurrence;
  const text = typeof cron === "string" ? cron : cron.text;
  throw new CronCalculationError(text, new Date(at).toISOString(), new Error(`there is no ${direction} occurrence`));
}

/**
 * The first occurrence after the minute that contains `at`.
 *
 * @throws CronCalculationError when there is none, as for `0 0 30 2 *`
 * @example
 * ```ts
 * import { nextOccurrence } from "kron/scheduler";
 *
 * const at = nextOccurrence("30 2 * * *", Date.parse("2026-03-28T12:00:00Z"), "Europe/Berlin");
 * console.log(new Date(at).toISOString()); // 2026-03-30T00:30:00.000Z: on the 29th there is no 02:30
 * ```
 */
export function nextOccurrence(cron: CronExpression | string, at: EpochMs | Date, timeZone = hostTimeZone()): EpochMs {
  const from = epochMs(at);
  return found(cron, from, scheduleOf(cron, timeZone).next(startOfMinute(from)), "next");
}

/**
 * The last occurrence at or before `at`.
 *
 * @throws CronCalculationError when there is none
 */
export function previousOccurrence(
  cron: CronExpression | string,
  at: EpochMs | Date,
  timeZone = hostTimeZone(),
): EpochMs {
  const from = epochMs(at);
  return found(cron, from, scheduleOf(cron, timeZone).previous(from), "previous");
}
