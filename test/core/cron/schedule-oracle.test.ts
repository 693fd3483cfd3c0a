import { describe, expect, test } from "vitest";
import { parseKronCron } from "../../../src/core/cron/kron-dialect.js";
import { compileSchedule, type Schedule } from "../../../src/core/cron/schedule.js";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import {
  matchesWithin,
  nominalTimes,
  type OracleRule,
  type WallWindow,
  type WindowMatches,
  wallWindow,
} from "../../support/cron-oracle.js";
import { IS_LONG } from "../../support/fuzz.js";
import { requireOk } from "../../support/results.js";
import { ALL_ZONES, PECULIAR_ZONES, temporalOffsetMs, transitionsOf, zone } from "../../support/zones.js";

/** How far to look on both sides: past a change by a whole day, or past one by hours. */
const WIDE_MS = 26 * HOUR_MS;
const NARROW_MS = 4 * HOUR_MS;
const UNTIL = Date.UTC(2100, 0, 1);
const DEFAULT_RULE: OracleRule = { gap: "skip", overlap: "both" };

/** Each looks at clock changes from another side: hours that change, midnights, days and months that are cut. */
const EXPRESSIONS: readonly string[] = [
  "* * * * *",
  "*/7 * * * *",
  "0 * * * *",
  "30 2 * * *",
  "0 0 * * *",
  "15,45 0-3 * * *",
  "59 23 * * *",
  "0 */2 * * SUN,SAT",
  "45 1 1-7 * 0",
  "5 0,12 29-31 * *",
  "10-20/5 2,3 * MAR,OCT *",
  "30 2 L * *",
  "0,30 0-3 13,L * SUN#1,SUN#2",
  "15 1,2 * * SUN#L,SAT#5,FRI#4",
];

const OTHER_RULES: readonly OracleRule[] = [
  { gap: "next", overlap: "both" },
  { gap: "next", overlap: "first" },
  { gap: "next", overlap: "last" },
  { gap: "skip", overlap: "first" },
  { gap: "skip", overlap: "last" },
];
const CHANGED_BY_RULES: readonly string[] = ["*/7 * * * *", "30 2 * * *", "0 0 * * *", "15,45 0-3 * * *"];

const ALL_RULES: readonly OracleRule[] = [DEFAULT_RULE, ...OTHER_RULES];
const CASES: readonly { readonly expression: string; readonly rules: readonly OracleRule[] }[] = EXPRESSIONS.map(
  (expression) => ({ expression, rules: CHANGED_BY_RULES.includes(expression) ? ALL_RULES : [DEFAULT_RULE] }),
);

function backwards(schedule: Schedule, from: number, until: number): number[] {
  const found: number[] = [];
  for (let at = schedule.previous(until - 1); at !== null && at >= from; at = schedule.previous(at - 1)) found.push(at);
  return found.reverse();
}

function firstDifference(name: string, found: readonly number[], expected: readonly number[]): string | null {
  const i = found.findIndex((at, index) => at !== expected[index]);
  if (i < 0 && found.length === expected.length) return null;
  const place = i < 0 ? found.length : i;
  return `${name}: found ${found[place]} where the oracle has ${expected[place]}`;
}

/** The first instant at which next, previous or matches disagrees with the list, asked at every minute and inside it. */
function firstDisagreement(schedule: Schedule, window: WallWindow, expected: readonly number[]): string | null {
  let passed = 0;
  for (const { at } of window.minutes) {
    const due = expected[passed] === at;
    if (due) passed++;
    const [last, next] = [expected[passed - 1], expected[passed]];
    const inside = at + 30_123;
    if (schedule.matches(at) !== due || schedule.matches(inside)) return `matches at ${at}`;
    if (next !== undefined && (schedule.next(at) !== next || schedule.next(next - 1) !== next))
      return `next after ${at}`;
    if (last !== undefined && (schedule.previous(at) !== last || schedule.previous(inside) !== last)) {
      return `previous at ${at}`;
    }
  }
  return null;
}

function check(matches: WindowMatches, expression: string, rule: OracleRule): void {
  const { window } = matches;
  const schedule = compileSchedule(requireOk(parseKronCron(expression)), zone(window.zoneId), rule);
  const expected = nominalTimes(matches, rule);
  const trouble =
    firstDifference("between", [...schedule.between(window.fromAt, window.untilAt)], expected) ??
    firstDifference("previous", backwards(schedule, window.fromAt, window.untilAt), expected) ??
    firstDisagreement(schedule, window, expected);
  const about = { zone: window.zoneId, expression, rule, from: new Date(window.fromAt).toISOString() };
  expect({ ...about, trouble }).toEqual({ ...about, trouble: null });
}

function checkAround(zoneId: string, at: number, leastReachMs: number): void {
  // A window must show both readings of a repeated hour, and the supported instants begin in 1970.
  const shiftMs = temporalOffsetMs(zoneId, at) - temporalOffsetMs(zoneId, at - 1);
  const reachMs = Math.max(leastReachMs, Math.abs(shiftMs));
  const center = Math.max(Math.floor(at / MINUTE_MS) * MINUTE_MS, reachMs);
  const window = wallWindow(zoneId, center - reachMs, center + reachMs);
  for (const { expression, rules } of CASES) {
    const matches = matchesWithin(window, expression);
    for (const rule of rules) check(matches, expression, rule);
  }
}

/** The first, the last, and where more are asked for some between them, always the same. */
function sampleOf(transitions: readonly number[], count: number): readonly number[] {
  if (transitions.length <= count) return transitions;
  const picked = Array.from({ length: count }, (_, i) => Math.round((i * (transitions.length - 1)) / (count - 1)));
  return picked.map((index) => transitions[index] as number);
}

/** Changes that must be in the sample whatever it is. */
const NOTABLE: readonly { readonly id: string; readonly at: string; readonly why: string }[] = [
  { id: "Pacific/Apia", at: "2011-12-30T10:00:00Z", why: "no 30 December 2011" },
  { id: "Pacific/Kwajalein", at: "1993-08-21T12:00:00Z", why: "no 21 August 1993" },
  { id: "Pacific/Kiritimati", at: "1994-12-31T10:40:00Z", why: "no 31 December 1994" },
  { id: "Australia/Lord_Howe", at: "2026-04-04T15:00:00Z", why: "half an hour repeated" },
  { id: "Australia/Lord_Howe", at: "2026-10-03T15:30:00Z", why: "half an hour skipped" },
  { id: "Antarctica/Troll", at: "2026-03-29T01:00:00Z", why: "two hours skipped" },
  { id: "Antarctica/Troll", at: "2026-10-25T01:00:00Z", why: "two hours repeated" },
  { id: "Africa/Casablanca", at: "2026-02-15T02:00:00Z", why: "summer time suspended for Ramadan" },
  { id: "Africa/Monrovia", at: "1972-01-07T00:44:30Z", why: "44 minutes and 30 seconds skipped" },
  { id: "America/Havana", at: "2026-03-08T05:00:00Z", why: "midnight skipped" },
  { id: "Asia/Beirut", at: "2026-03-28T22:00:00Z", why: "midnight skipped" },
  { id: "Antarctica/Vostok", at: "1994-01-31T17:00:00Z", why: "seven hours repeated" },
  { id: "America/Boa_Vista", at: "2000-10-15T03:00:00Z", why: "a week after the change before" },
];

describe("S3: brute force, minute by minute around clock changes", () => {
  test.each(NOTABLE)("$id, $at: $why", ({ id, at }) => {
    checkAround(id, Date.parse(at), WIDE_MS);
  });

  test.each(PECULIAR_ZONES)(`$id, ${IS_LONG ? "every change" : "some changes"} 1970-2100 ($why)`, ({ id }) => {
    const transitions = transitionsOf(id, 0, UNTIL);
    for (const at of IS_LONG ? transitions : sampleOf(transitions, 2)) checkAround(id, at, WIDE_MS);
    checkAround(id, Date.UTC(2026, 6, 1), NARROW_MS);
  });

  test("one change of every zone that has any in a year of its own", () => {
    for (const [i, id] of ALL_ZONES.entries()) {
      const fromAt = Date.UTC(1970 + ((i * 7) % 130), 0, 1);
      for (const at of transitionsOf(id, fromAt, fromAt + 400 * DAY_MS).slice(0, 1)) checkAround(id, at, NARROW_MS);
    }
  });

  test.each(IS_LONG ? ALL_ZONES : [])("%s, every change 1970-2100", (id) => {
    for (const at of transitionsOf(id, 0, UNTIL)) checkAround(id, at, NARROW_MS);
  });
});
