/** Hints as they are asked for: what is taken, and what is refused with field and reason. */
import { describe, expect, test } from "vitest";
import { type Hint, type HintWish, hintText, readHint } from "../../../src/core/governor/hint.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = at("2026-03-28T12:00:00Z");

test("a reason is told as it may be read: nothing in it speaks to a terminal", () => {
  const about = { expiresAt: NOW + HOUR, reason: "ok\u001b[2J\rall\nis well" };
  const told = hintText({ kind: "interval", intervalMs: SECOND, ...about });
  expect(told).toContain("ok\ufffd[2J\ufffdall\ufffdis well");
});

describe("what is taken", () => {
  const rows: readonly [title: string, wish: HintWish, hint: Hint][] = [
    [
      "an interval, for a while",
      { intervalMs: 30 * SECOND, ttlMs: 2 * HOUR, reason: "errors" },
      { kind: "interval", intervalMs: 30 * SECOND, expiresAt: NOW + 2 * HOUR, reason: "errors" },
    ],
    [
      "the shortest interval, for a millisecond",
      { intervalMs: SECOND, nextRunAt: null, ttlMs: 1 },
      { kind: "interval", intervalMs: SECOND, expiresAt: NOW + 1, reason: "" },
    ],
    [
      "an interval longer than it holds: the job rests until it is over",
      { intervalMs: 366 * DAY, ttlMs: 31 * DAY },
      { kind: "interval", intervalMs: 366 * DAY, expiresAt: NOW + 31 * DAY, reason: "" },
    ],
    [
      "an instant, good for an hour after it",
      { nextRunAt: NOW + 5 * HOUR },
      { kind: "oneshot", nextRunAt: NOW + 5 * HOUR, expiresAt: NOW + 6 * HOUR, reason: "" },
    ],
    [
      "an instant within a time that is said",
      { intervalMs: null, nextRunAt: NOW + HOUR - 1, ttlMs: HOUR },
      { kind: "oneshot", nextRunAt: NOW + HOUR - 1, expiresAt: NOW + HOUR, reason: "" },
    ],
    [
      "an instant that is past: at once",
      { nextRunAt: NOW - 1 },
      { kind: "oneshot", nextRunAt: NOW - 1, expiresAt: NOW + HOUR, reason: "" },
    ],
  ];
  test.each(rows)("%s", (_title, wish, hint) => {
    expect(requireOk(readHint(wish, NOW))).toEqual(hint);
  });
});

describe("what is refused", () => {
  const TTL = { ttlMs: HOUR };
  const rows: readonly [title: string, wish: HintWish, problems: readonly string[]][] = [
    ["both kinds at once", { intervalMs: SECOND, nextRunAt: NOW, ...TTL }, ["field-conflict nextRunAt"]],
    ["neither", { ...TTL }, ["field-missing intervalMs"]],
    ["neither, spelled out", { intervalMs: null, nextRunAt: null, ...TTL }, ["field-missing intervalMs"]],
    ["an interval of zero", { intervalMs: 0, ...TTL }, ["duration-range intervalMs"]],
    ["a negative interval", { intervalMs: -SECOND, ...TTL }, ["duration-range intervalMs"]],
    ["an interval below a second", { intervalMs: 999, ...TTL }, ["duration-range intervalMs"]],
    ["an interval above 366 days", { intervalMs: 366 * DAY + 1, ...TTL }, ["duration-range intervalMs"]],
    ["a fraction of a millisecond", { intervalMs: 1000.5, ...TTL }, ["duration-range intervalMs"]],
    ["no number", { intervalMs: Number.NaN, ...TTL }, ["duration-range intervalMs"]],
    ["an interval without an end", { intervalMs: SECOND }, ["field-missing ttlMs"]],
    ["a time of zero", { intervalMs: SECOND, ttlMs: 0 }, ["duration-range ttlMs"]],
    ["a negative time", { nextRunAt: NOW, ttlMs: -1 }, ["duration-range ttlMs"]],
    ["a time above 31 days", { intervalMs: SECOND, ttlMs: 31 * DAY + 1 }, ["duration-range ttlMs"]],
    [
      "half a millisecond, beyond which the instant lies",
      { nextRunAt: NOW + HOUR, ttlMs: 1.5 },
      ["duration-range ttlMs"],
    ],
    ["an instant at its end", { nextRunAt: NOW + HOUR, ...TTL }, ["instant-range nextRunAt"]],
    ["an instant beyond its end", { nextRunAt: NOW + 2 * HOUR, ...TTL }, ["instant-range nextRunAt"]],
    ["an instant too far ahead", { nextRunAt: NOW + 31 * DAY - HOUR + 1 }, ["instant-range nextRunAt"]],
    ["an instant before there were any", { nextRunAt: -1 }, ["instant-range nextRunAt"]],
    ["no instant", { nextRunAt: Number.POSITIVE_INFINITY }, ["instant-range nextRunAt"]],
    ["a reason too long", { intervalMs: SECOND, ...TTL, reason: "x".repeat(1001) }, ["limit-exceeded reason"]],
    [
      "everything at once",
      { intervalMs: 0, ttlMs: 0, reason: "x".repeat(1001) },
      ["duration-range intervalMs", "limit-exceeded reason", "duration-range ttlMs"],
    ],
  ];
  test.each(rows)("%s", (_title, wish, problems) => {
    const read = readHint(wish, NOW);
    expect(read.ok ? [] : read.error.map(({ code, path }) => `${code} ${path.join(".")}`)).toEqual(problems);
  });

  test("the reason names what was asked for and what would do", () => {
    const read = readHint({ nextRunAt: NOW + 2 * HOUR, ttlMs: HOUR }, NOW);
    expect(read.ok ? [] : read.error.map(({ message }) => message)).toEqual([
      "2026-03-28T14:00:00Z lies beyond the end of the hint, 2026-03-28T13:00:00Z",
    ]);
  });
});
