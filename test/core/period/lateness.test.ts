import { describe, expect, test } from "vitest";
import {
  deadlineAt,
  isPast,
  retryAt,
  retryDelayMs,
  startLimitAfterReplace,
  startLimitAt,
} from "../../../src/core/period/lateness.js";

const C = 1_000_000_000;

describe("S20: lateness in whole seconds", () => {
  test.each<[title: string, now: number, past: boolean]>([
    ["before", C - 1, false],
    ["on the instant", C, false],
    ["within the chosen second", C + 999, false],
    ["the second after", C + 1000, true],
  ])("limit C, now %s", (_title, now, past) => {
    expect(isPast(C, now)).toBe(past);
  });
});

describe("limits", () => {
  test.each<[title: string, actual: number, expected: number]>([
    ["S20: chosen + deadline", deadlineAt(C, 5000, null), C + 5000],
    ["S11: a period that had to wait counts from the end of its wait", deadlineAt(C, 5000, C + 7300), C + 12_000],
    ["S11: a wait that ended before the chosen time changes nothing", deadlineAt(C, 5000, C - 7300), C + 5000],
    ["S20: chosen + deadline + start grace", startLimitAt(C + 5000, 60_000), C + 65_000],
    [
      "S25: victims gone early: the first limit stays",
      startLimitAfterReplace(C + 60_000, C - 5000, 60_000),
      C + 60_000,
    ],
    [
      "S25: victims gone late: the grace counts anew",
      startLimitAfterReplace(C + 60_000, C + 90_400, 60_000),
      C + 150_000,
    ],
  ])("%s", (_title, actual, expected) => {
    expect(actual).toBe(expected);
  });
});

describe("retries", () => {
  test("S18, S24: 1 s doubling to 60 s", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 1000].map(retryDelayMs)).toEqual(
      [1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1000),
    );
  });

  test.each<[title: string, failures: number, limit: number, now: number, expected: number]>([
    ["far from the deadline: the usual delay", 3, C + 100_000, C, C + 4000],
    ["near it: the first second past the deadline", 5, C + 10_000, C + 1000, C + 11_000],
    ["deadline 0: closed a second later", 1, C, C, C + 1000],
    ["deadline 0, late within the second", 1, C, C + 400, C + 1000],
    ["past it already: at once", 4, C, C + 5000, C + 5000],
  ])("S24: %s", (_title, failures, limit, now, expected) => {
    expect(retryAt(failures, limit, now)).toBe(expected);
  });
});
