/**
 * The schedule of exactly one period: `@at 2026-12-01T03:00`, a wall time of the job's zone, or an instant that carries an
 * offset of its own. Whatever a clock change does to the wall time, there is never a second nominal time.
 */
import { LIMITS } from "../base/limits.js";
import type { Problem, TextSpan } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import type { DstRule } from "../time/dst.js";
import { DAY_MS, type EpochMs, formatInstant, parseInstant, SECOND_MS } from "../time/instant.js";
import { SUPPORTED_INSTANTS, type Zone, type ZoneSpan } from "../time/zone.js";
import { AT, afterAt } from "./at.js";
import { NO_OCCURRENCES } from "./every.js";
import type { Schedule } from "./schedule.js";

const WRITTEN = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2})(:\d{2})?([Zz]|[+-]\d{2}:\d{2})?$/;
const FORM = "write date and time, like 2026-12-01T03:00, or with an offset, like 2026-12-01T02:00Z";

/** S3: a run that is wanted once is late rather than left out, and never doubled. */
export const ONCE_DST: DstRule = Object.freeze({ gap: "next", overlap: "first" });

/** One time, as it is written. */
export interface OneTime {
  /** Canonical: seconds only where there are some, offsets turned into `Z`. */
  readonly text: string;
  /** Of the wall clock, counted as if it were that of UTC; of an instant since 1970. */
  readonly ms: number;
  readonly isInstant: boolean;
}

/** The time of a schedule that `isOnce`. */
export function parseOnce(schedule: string): Result<OneTime, Problem> {
  const whole = { start: 0, end: schedule.length };
  if (schedule.length > LIMITS.expressionChars) {
    const message = `a schedule has at most ${LIMITS.expressionChars} characters, this one has ${schedule.length}`;
    return refuse("limit-exceeded", message, whole, `write it like ${AT} 2026-12-01T03:00`);
  }
  const after = afterAt(schedule);
  const written = schedule.slice(after).trim();
  if (written === "") return refuse("instant-syntax", `${AT} needs a date and a time`, whole, FORM);
  const start = schedule.indexOf(written, after);
  const read = parseOneTime(written);
  return read.ok ? read : err({ ...read.error, span: { start, end: start + written.length } });
}

/** A date and a time of day, to the second: `2026-12-01T03:00`, `2026-12-01T03:00:30+01:00`. */
export function parseOneTime(text: string): Result<OneTime, Problem> {
  const whole = { start: 0, end: text.length };
  const [, date, time, seconds = ":00", offset] = WRITTEN.exec(text) ?? [];
  if (date === undefined) return refuse("instant-syntax", `"${text.slice(0, 40)}" is no date and time`, whole, FORM);
  const read = parseInstant(`${date}T${time}${seconds}${offset ?? "Z"}`);
  if (!read.ok) return err({ ...read.error, span: whole });
  const { fromAt, untilAt } = SUPPORTED_INSTANTS;
  if (read.value < fromAt || read.value >= untilAt) {
    return refuse("instant-range", "the time lies outside the years 1970 to 2199", whole, FORM);
  }
  const isInstant = offset !== undefined;
  const plain = formatInstant(read.value).replace(/Z$/, "").replace(/:00$/, "");
  return ok({ text: `${AT} ${plain}${isInstant ? "Z" : ""}`, ms: read.value, isInstant });
}

function refuse(code: Problem["code"], message: string, span: TextSpan, hint: string): Result<never, Problem> {
  return err({ code, message, path: [], span, hint });
}

/** What a time means in a zone. */
interface OneTimeReading {
  /** When the clocks there show it, oldest first; empty where a clock change leaves it out. */
  readonly shownAt: readonly EpochMs[];
  /** The first instant after the clock change that leaves it out; null: none does. */
  readonly gapEndAt: EpochMs | null;
}

/** Further apart than any two offsets of one zone. */
const REACH_MS = 2 * DAY_MS;

export function readingOf({ ms, isInstant }: OneTime, zone: Zone): OneTimeReading {
  if (isInstant) return { shownAt: [ms], gapEndAt: null };
  const shownAt: EpochMs[] = [];
  let gapEndAt: EpochMs | null = null;
  let before: ZoneSpan | null = null;
  for (let at = ms - REACH_MS; at < ms + REACH_MS; at = before.endAt) {
    const span = zone.spanAt(at);
    const candidateAt = ms - span.offsetMs;
    if (candidateAt >= span.startAt && candidateAt < span.endAt) shownAt.push(candidateAt);
    const isPassed = before !== null && ms - before.offsetMs >= span.startAt && candidateAt < span.startAt;
    if (isPassed) gapEndAt ??= Math.ceil(span.startAt / SECOND_MS) * SECOND_MS;
    before = span;
  }
  return { shownAt, gapEndAt: shownAt.length > 0 ? null : gapEndAt };
}

/** S3: the one nominal time; null: a clock change leaves it out, and so does the job. `both` cannot be: it is one. */
export function onceAt(time: OneTime, zone: Zone, { gap, overlap }: DstRule): EpochMs | null {
  const { shownAt, gapEndAt } = readingOf(time, zone);
  const at = overlap === "last" ? shownAt.at(-1) : shownAt[0];
  return at ?? (gap === "next" ? gapEndAt : null);
}

export function compileOnce(time: OneTime, zone: Zone, dst: DstRule): Schedule {
  const at = onceAt(time, zone, dst);
  const { fromAt, untilAt } = SUPPORTED_INSTANTS;
  return at === null || at < fromAt || at >= untilAt ? NO_OCCURRENCES : new OnceSchedule(at);
}

class OnceSchedule implements Schedule {
  readonly smallestGapMs = Number.POSITIVE_INFINITY;
  readonly #at: EpochMs;

  constructor(at: EpochMs) {
    this.#at = at;
  }

  next(after: EpochMs): EpochMs | null {
    return this.#at > after ? this.#at : null;
  }

  previous(at: EpochMs): EpochMs | null {
    return this.#at <= at ? this.#at : null;
  }

  *between(from: EpochMs, to: EpochMs): Iterable<EpochMs> {
    if (this.#at >= from && this.#at < to) yield this.#at;
  }

  matches(at: EpochMs): boolean {
    return this.#at === at;
  }
}
