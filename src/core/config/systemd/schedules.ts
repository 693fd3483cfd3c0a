/** The times of a timer: its calendar events and intervals as schedules, as few as say the same, and what surrounds them. */
import { LIMITS } from "../../base/limits.js";
import { isOnce } from "../../cron/at.js";
import { parseKronCron } from "../../cron/kron-dialect.js";
import { compileSchedule } from "../../cron/schedule.js";
import { formatDuration } from "../../time/duration.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../time/instant.js";
import { zoneOf } from "../../time/zone.js";

/** Five fields, or one time, in a zone, with the weekdays on which they count. */
export interface TimerSchedule {
  readonly schedule: string;
  readonly timezone: string;
  readonly only: string | null;
}

const DAY = 2;
const WEEKDAY = 4;

/** As few schedules as name the same times: two that differ in one field become one. */
export function merged(schedules: readonly TimerSchedule[]): readonly TimerSchedule[] {
  const kept: TimerSchedule[] = [];
  for (const schedule of schedules) {
    const at = kept.findIndex((other) => union(other, schedule) !== null);
    const other = kept[at];
    if (other === undefined) kept.push(schedule);
    else kept[at] = union(other, schedule) ?? other;
  }
  return kept;
}

function union(a: TimerSchedule, b: TimerSchedule): TimerSchedule | null {
  if (a.timezone !== b.timezone || a.only !== null || b.only !== null) return null;
  if (isOnce(a.schedule) || isOnce(b.schedule)) return a.schedule === b.schedule ? a : null;
  const fields = unionOfFields(a.schedule.split(" "), b.schedule.split(" "));
  return fields === null ? null : { ...a, schedule: fields.join(" ") };
}

function unionOfFields(a: readonly string[], b: readonly string[]): readonly string[] | null {
  const differing = a.flatMap((field, index) => (field === b[index] ? [] : [index]));
  const [first, second] = differing;
  if (first === undefined) return a;
  if (second === undefined) {
    const [one = "", other = ""] = [a[first], b[first]];
    const isRestricted = (index: number): boolean => a[index] !== "*";
    // With both day fields restricted, either suffices: the other one would count twice.
    const isOpen = (first === DAY && isRestricted(WEEKDAY)) || (first === WEEKDAY && isRestricted(DAY));
    if (one === "*" || other === "*" || isOpen) return null;
    return a.map((field, index) => (index === first ? `${one},${other}` : field));
  }
  // The days of one and the weekdays of the other: S3 takes either.
  const isDays = differing.length === 2 && first === DAY && second === WEEKDAY;
  if (!isDays) return null;
  if (a[WEEKDAY] === "*" && b[DAY] === "*")
    return a.map((field, index) => (index === WEEKDAY ? (b[WEEKDAY] ?? field) : field));
  if (a[DAY] === "*" && b[WEEKDAY] === "*") return a.map((field, index) => (index === DAY ? (b[DAY] ?? field) : field));
  return null;
}

/** Where the longest wait of any rhythm of days shows; a rare schedule needs no more than a few of its own. */
const GAPS_FROM = Date.UTC(2024, 0, 1);
const GAPS_UNTIL = Date.UTC(2033, 0, 1);
const GAPS_LOOKED_AT = 3000;

interface Gaps {
  readonly smallestMs: number;
  readonly largestMs: number;
}

/** Between two times of a schedule, without end where there is one; null for one that cannot be read. */
export function gapsOf(schedule: string): Gaps | null {
  if (isOnce(schedule)) return { smallestMs: Number.POSITIVE_INFINITY, largestMs: Number.POSITIVE_INFINITY };
  const fields = parseKronCron(schedule);
  const utc = zoneOf("UTC");
  if (!fields.ok || !utc.ok) return null;
  const compiled = compileSchedule(fields.value, utc.value);
  let largestMs = 0;
  let before = compiled.next(GAPS_FROM);
  for (let count = 0; count < GAPS_LOOKED_AT && before !== null && before < GAPS_UNTIL; count++) {
    const at = compiled.next(before);
    if (at !== null) largestMs = Math.max(largestMs, at - before);
    before = at;
  }
  return { smallestMs: compiled.smallestGapMs, largestMs };
}

/** S11: a delay may reach into the next period, a window may not. */
export function windowMsOf(delayMs: number, { smallestMs }: Gaps): number {
  return Math.min(Math.floor(delayMs / SECOND_MS) * SECOND_MS, smallestMs, LIMITS.windowMs);
}

/**
 * How late a run is still wanted. A timer that is persistent makes up for the last time it missed, however long ago, which
 * is until the next one; others are never made up for, but a little lateness is no reason to leave a run out.
 */
export function deadlineOf(isPersistent: boolean, windowMs: number, { largestMs }: Gaps): string {
  const untilNext = isPersistent ? Math.ceil(largestMs / HOUR_MS) * HOUR_MS : 0;
  const wanted = Math.max(MINUTE_MS, windowMs, untilNext);
  return formatDuration(Math.min(wanted, LIMITS.deadlineMs));
}
