/**
 * Reads how long a failed task waits: milliseconds, an ISO 8601 text, a Temporal.Duration, or an object with
 * `toMillis()`. Days are 24 hours and weeks seven days; months and years have no fixed length and are refused.
 */
import { err, ok, type Result } from "../core/base/result.js";
import { SCHEDULER_LIMITS } from "./limits.js";

export type RetryDelayProblem =
  | { readonly kind: "negative"; readonly retryDelayMs: number }
  | { readonly kind: "invalid"; readonly reason: string; readonly cause?: unknown };

/** A value of a wrong type is a matter of shape, one of the right type may still make no sense. */
type RetryDelayReading = Result<number, RetryDelayProblem | "wrong-type">;

const ISO_DURATION =
  /^([+-]?)P(?=[\dT])(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)(?:[.,](\d{1,9}))?H)?(?:(\d+)(?:[.,](\d{1,9}))?M)?(?:(\d+)(?:[.,](\d{1,9}))?S)?)?$/i;
const CALENDAR_DURATION = /^[+-]?P(?=\d)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T.*)?$/i;

const UNIT_MS = { week: 604_800_000, day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1_000 } as const;

/** NaN: not a duration. Only the last part may have a fraction, as ISO 8601 wants it. */
function isoMs(text: string): number {
  const parts = ISO_DURATION.exec(text);
  if (parts === null || !isFractionLast(parts)) return Number.NaN;
  const count = (whole: number): number => Number(parts[whole] ?? 0);
  const decimal = (whole: number): number => Number(`${parts[whole] ?? 0}.${parts[whole + 1] ?? 0}`);
  const ms =
    count(2) * UNIT_MS.week +
    count(3) * UNIT_MS.day +
    decimal(4) * UNIT_MS.hour +
    decimal(6) * UNIT_MS.minute +
    decimal(8) * UNIT_MS.second;
  return parts[1] === "-" ? -ms : ms;
}

function isFractionLast(parts: RegExpExecArray): boolean {
  if (parts[5] !== undefined) return parts[6] === undefined && parts[8] === undefined;
  return parts[7] === undefined || parts[8] === undefined;
}

function isMethod(value: object, name: string): boolean {
  return name in value && typeof (value as Record<string, unknown>)[name] === "function";
}

function objectMs(value: object): number | "wrong-type" {
  if (isMethod(value, "toMillis")) return Number((value as { toMillis(): unknown }).toMillis());
  if (isMethod(value, "total")) return Number((value as { total(unit: string): unknown }).total("millisecond"));
  return "wrong-type";
}

function rawMs(value: unknown): number | "wrong-type" {
  if (typeof value === "number") return value;
  if (typeof value === "string") return isoMs(value);
  return typeof value === "object" && value !== null ? objectMs(value) : "wrong-type";
}

function reasonOf(value: unknown): string {
  const isCalendar = typeof value === "string" && CALENDAR_DURATION.test(value);
  return isCalendar
    ? "must not use months or years, which have no fixed length"
    : "must be a duration: milliseconds, an ISO 8601 text like PT5M, a Temporal.Duration, or an object with toMillis()";
}

function checkedMs(value: unknown, ms: number): RetryDelayReading {
  if (Number.isNaN(ms)) return err({ kind: "invalid", reason: reasonOf(value) });
  if (ms < 0) return err({ kind: "negative", retryDelayMs: ms });
  if (ms > SCHEDULER_LIMITS.retryDelayMs) return err({ kind: "invalid", reason: "must be at most 100 years" });
  // Never early (P13): a fraction of a millisecond counts as a whole one. Adding 0 turns -0 into 0.
  return ok(Math.ceil(ms) + 0);
}

export function readRetryDelay(value: unknown): RetryDelayReading {
  try {
    const ms = rawMs(value);
    return ms === "wrong-type" ? err(ms) : checkedMs(value, ms);
  } catch (cause) {
    // A Temporal.Duration with months cannot say how long it is.
    return err({ kind: "invalid", reason: reasonOf(value), cause });
  }
}
