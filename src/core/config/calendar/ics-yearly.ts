/** Events that come back every year: the one rule of repetition that is read, because its days are plain to see. */

import { daysOfDate } from "../../decision/constraint/date.js";
import { civilFromDays } from "../../time/civil.js";
import type { IcsLine, Refuse } from "./ics-lines.js";

/** The last year of events without an end. A constant: which days a file has must not depend on when it is read. */
const LAST_YEAR = 2100;

interface Yearly {
  readonly interval: number;
  readonly count: number;
  /** Last day on which it may begin. */
  readonly until: number;
}

const HINT = "write RRULE:FREQ=YEARLY with INTERVAL, COUNT or UNTIL, or each day as an event of its own";
const KNOWN = new Set(["FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYMONTH", "BYMONTHDAY"]);

export function readYearly({ number, value }: IcsLine, first: number, refuse: Refuse): Yearly | null {
  const parts = partsOf(value);
  if (parts === null) return refused(number, "this is no rule of repetition", refuse);
  if (parts.get("FREQ") !== "YEARLY") return refused(number, "only events that come back every year are read", refuse);
  const unknown = [...parts.keys()].find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return refused(number, `${unknown} in a rule of repetition is not read`, refuse);
  const { month, day } = civilFromDays(first);
  if (!isAbsentOr(parts.get("BYMONTH"), month) || !isAbsentOr(parts.get("BYMONTHDAY"), day)) {
    return refused(number, "the rule of repetition names another day than DTSTART", refuse);
  }
  const interval = wholeOf(parts.get("INTERVAL") ?? "1");
  const count = parts.has("COUNT") ? wholeOf(parts.get("COUNT") ?? "") : Number.POSITIVE_INFINITY;
  const until = parts.has("UNTIL") ? untilOf(parts.get("UNTIL") ?? "") : Number.POSITIVE_INFINITY;
  if (interval === null || count === null || until === null) {
    return refused(number, "INTERVAL, COUNT or UNTIL of the rule of repetition cannot be read", refuse);
  }
  return { interval, count, until };
}

/** Days on which it begins. In years that have no 29 February an event of that day does not take place (RFC 5545). */
export function yearlyDays(first: number, { interval, count, until }: Yearly): readonly number[] {
  const { year: firstYear, month, day } = civilFromDays(first);
  const days: number[] = [];
  for (let year = firstYear; year <= LAST_YEAR && days.length < count; year += interval) {
    const at = daysOfDate(year, month, day);
    if (at !== null && at > until) break;
    if (at !== null) days.push(at);
  }
  return days;
}

function partsOf(value: string): ReadonlyMap<string, string> | null {
  const parts = new Map<string, string>();
  for (const part of value.toUpperCase().split(";")) {
    const [name = "", text] = part.split("=");
    if (text === undefined || text === "" || parts.has(name)) return null;
    parts.set(name, text);
  }
  return parts;
}

function isAbsentOr(text: string | undefined, value: number): boolean {
  return text === undefined || Number(text) === value;
}

function wholeOf(text: string): number | null {
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null;
}

/** A day or an instant, of which the day counts. */
function untilOf(text: string): number | null {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)(?:T\d{6}Z?)?$/.exec(text) ?? [];
  return year === undefined ? null : daysOfDate(Number(year), Number(month), Number(day));
}

function refused(line: number, message: string, refuse: Refuse): null {
  refuse(line, message, HINT);
  return null;
}
