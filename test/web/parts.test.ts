/** Those parts of the page that need no browser. */
import * as fs from "node:fs";
import * as path from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { GAP_REASONS, MISSED_REASONS, OTHER_REASONS, SKIPPED_REASONS } from "../../src/core/period/reasons.js";
import { type Ending, endingFields, isSuccess, NODE_LOST, START_UNCONFIRMED } from "../../src/core/state/ending.js";
import { outcomeOfRow, REASONS, reasonText, troubleText } from "../../web/src/outcome.js";
import { scheduleText } from "../../web/src/schedule-text.js";
import { readSearch, toggled } from "../../web/src/search.js";
import type { JobRow } from "../../web/src/shapes.js";
import * as time from "../../web/src/time.js";
import { nextOf } from "../../web/src/usual.js";
import { inPlace, levelOf, ROW_PX, shortened, viewOf } from "../../web/src/view.js";
import { builtPrograms } from "../support/krond.js";

const programs = builtPrograms();

describe("which rows are in view", () => {
  test("however many there are: all of the view is covered, and little more than it exists", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: 100, max: 2_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (total, viewPx, part) => {
          const { heightPx } = viewOf(total, 0, viewPx);
          const scrollPx = Math.max(0, heightPx - viewPx) * part;
          const { first, end, topPx } = viewOf(total, scrollPx, viewPx);
          expect(end - first).toBeLessThanOrEqual(Math.ceil(viewPx / ROW_PX) + 18);
          if (first > 0) expect(topPx).toBeLessThanOrEqual(scrollPx + 1e-6);
          if (end < total) expect(topPx + (end - first) * ROW_PX).toBeGreaterThanOrEqual(scrollPx + viewPx - 1e-6);
        },
      ),
    );
  });

  test.each([10, 100_000, 1_000_000])(
    "of %i rows the last is reached, and the height is one that browsers have",
    (total) => {
      const viewPx = 600;
      const start = viewOf(total, 0, viewPx);
      const scrolled = start.scrollFor(total - 1, 0);
      const { end, heightPx } = viewOf(total, scrolled, viewPx);
      expect(end).toBe(total);
      expect(heightPx).toBeLessThanOrEqual(8_000_000);
      expect(viewOf(total, scrolled, viewPx).scrollFor(0, scrolled)).toBe(0);
    },
  );

  test("a long name keeps how it begins and how it ends", () => {
    expect(shortened("tenant-00/reports/monthly/job-000017", 20)).toBe("tenant-0…/job-000017");
    expect(shortened("short", 20)).toBe("short");
  });
});

describe("the search field", () => {
  const NOW = Date.UTC(2026, 10, 19, 10, 0, 30);
  test.each([
    ["orders", [["search", "orders"]]],
    ["two words", [["search", "two words"]]],
    [
      "prod/* tag:backup",
      [
        ["identities", "prod/*"],
        ["tags", "backup"],
      ],
    ],
    [
      "is:failing is:running",
      [
        ["isFailing", "true"],
        ["isRunning", "true"],
      ],
    ],
    [
      "is:held",
      [
        ["standings", "paused"],
        ["standings", "suspended"],
      ],
    ],
    [
      "outcome:missed outcome:skipped",
      [
        ["outcomes", "missed"],
        ["outcomes", "skipped"],
      ],
    ],
    ["next<1h", [["dueBy", "2026-11-19T11:01:00Z"]]],
    ["", []],
  ])("%j", (text, parameters) => {
    expect(readSearch(text, NOW)).toEqual({ parameters, unknown: [] });
  });

  test("says which words it does not know", () => {
    expect(readSearch("is:odd outcome:strange db", NOW)).toEqual({
      parameters: [["search", "db"]],
      unknown: ["is:odd", "outcome:strange"],
    });
  });

  test("a word is put in and taken out", () => {
    expect(toggled("prod/*", "is:held")).toBe("prod/* is:held");
    expect(toggled("is:held  prod/*", "is:held")).toBe("prod/*");
  });
});

test.each([
  ["* * * * *", "every minute"],
  ["*/5 * * * *", "every 5 minutes"],
  ["15 * * * *", "every hour at :15"],
  ["0 */6 * * *", "every 6 hours at :00"],
  ["@daily", "every day at 00:00"],
  ["30 7 * * MON", "every Monday at 07:30"],
  ["30 7 * * 0", "every Sunday at 07:30"],
  ["0 9 * * 1-5", "Monday to Friday at 09:00"],
  ["0 3 1 * *", "on day 1 of the month at 03:00"],
  ["@every 1m30s", "every 1m30s"],
  ["@at 2026-12-01T03:00", "once, 2026-12-01 at 03:00"],
  ["@reboot", "at every boot"],
  ["0 0 1 1 *", null],
  ["0,30 4-6 * * *", null],
  ["0 0 L * *", "on the last day of the month at 00:00"],
  ["30 8 * * MON#2", "on the second Monday of the month at 08:30"],
  ["0 18 * * 5#L", "on the last Friday of the month at 18:00"],
  ["0 9 * * MON,WED,FRI", "every Monday, Wednesday and Friday at 09:00"],
  ["0 9 * * SAT-SUN", "Saturday to Sunday at 09:00"],
  ["0 9 * * MON#6", null],
  ["0 9 * * MON-FRI/2", null],
  ["0 9 1 * MON", null],
])("a schedule in words: %s", (expression, words) => {
  expect(scheduleText(expression)).toBe(words);
});

describe("periods that nobody looked at", () => {
  test.each([
    ["3 periods up to 2026-11-19T23:05:00Z", "3 periods up to 23:05:00: krond was down"],
    ["1 periods up to 2026-11-19T23:05:00Z: paused", "1 period up to 23:05:00: it was paused"],
    [
      "at least 9 periods up to 2026-11-19T23:05:00Z: hinted",
      "at least 9 periods up to 23:05:00: a hint stood in for the schedule",
    ],
    ["until 2026-11-19T23:05:00Z: an upgrade", "until 23:05:00: an upgrade"],
  ])("%s", (reason, words) => {
    time.zone.value = "UTC";
    time.nowMs.value = Date.parse("2026-11-19T23:30:00Z");
    expect(reasonText(reason)).toBe(words);
  });
});

test("the page has words for the reasons that go on record, and for no others", () => {
  const known = new Set([...MISSED_REASONS, ...SKIPPED_REASONS, ...GAP_REASONS, ...OTHER_REASONS, "not_started"]);
  expect([...REASONS.keys()].sort()).toEqual([...known].sort());
  expect(reasonText("not_started:command-not-found")).toBe("it could not be started: command-not-found");
});

describe("a run is a success on the page where it is one", () => {
  const request = {
    durationMs: 5,
    bytes: 2,
    excerpt: null,
    timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
  };
  const endings: readonly Ending[] = [
    { kind: "exited", code: 0, signal: null, reason: null },
    { kind: "exited", code: 1, signal: null, reason: null },
    { kind: "exited", code: null, signal: "SIGTERM", reason: "timeout" },
    { kind: "answered", status: 200, isExpected: true, reason: null, ...request },
    { kind: "answered", status: 404, isExpected: true, reason: null, ...request },
    { kind: "answered", status: 200, isExpected: false, reason: null, ...request },
    { kind: "job", condition: "Complete", reason: null },
    { kind: "job", condition: "Failed", reason: null },
    START_UNCONFIRMED,
    NODE_LOST,
  ];
  test.each(endings)("%j", (ending) => {
    const { exit_code: exitCode, ...fields } = endingFields(ending);
    const row = { outcome: "executed", startedAt: "2026-11-19T23:05:00Z", endedAt: "2026-11-19T23:06:00Z" };
    expect(outcomeOfRow({ ...row, ...fields, exitCode })).toBe(isSuccess(ending) ? "executed" : "failed");
  });
});

test("what is suspended starts at no time, whatever its schedule says", () => {
  const next = "2026-11-19T23:30:00Z";
  expect(nextOf({ standing: "suspended", nextChosenTime: next })).toBeNull();
  expect(nextOf({ standing: "paused", nextChosenTime: next })).toBe(next);
});

test("rows stay where they were: new ones come behind them, and what is gone leaves no gap", () => {
  const own = (row: string): string => row;
  expect(inPlace(["d", "c", "b", "a"], own, ["a", "b", "x", "c"])).toEqual(["a", "b", "c", "d"]);
  expect(inPlace(["b", "a"], own, [])).toEqual(["b", "a"]);
});

test("the heat map tells nothing from little, and little from much", () => {
  expect([0, 1, 10, 25, 50, 99, 100].map((value) => levelOf(value, 100))).toEqual([0, 1, 2, 4, 5, 6, 6]);
});

describe("times", () => {
  beforeAll(() => {
    time.nowMs.value = Date.UTC(2026, 10, 19, 10, 0, 0);
  });

  test.each([
    [400, "400 ms"],
    [9_000, "9 s"],
    [250_000, "4 min 10 s"],
    [40 * 60_000, "40 min"],
    [(11 * 60 + 4) * 60_000, "11 h"],
    [(2 * 60 + 4) * 60_000, "2 h 4 min"],
    [3.5 * 86_400_000, "3 d 12 h"],
  ])("%i ms are %s", (ms, text) => {
    expect(time.spanText(ms)).toBe(text);
  });

  test("are told in the zone that is asked for, with a date where it is another day", () => {
    expect(time.momentText("2026-11-19T23:30:00Z", "UTC")).toBe("23:30:00");
    expect(time.momentText("2026-11-19T23:30:00Z", "Europe/Berlin")).toBe("20 Nov, 00:30:00");
    expect(time.momentText("2027-01-01T00:00:00Z", "UTC")).toBe("1 Jan 2027, 00:00:00");
    expect(time.distanceText("2026-11-19T10:04:00Z")).toBe("in 4 min");
    expect(time.distanceText("2026-11-19T10:00:00.263Z")).toBe("now");
    expect(time.momentText("no instant", "UTC")).toContain("no instant");
  });

  test.each([
    ["Europe/Berlin", "2026-11-18T23:00:00Z"],
    ["UTC", "2026-11-19T00:00:00Z"],
    ["Asia/Kolkata", "2026-11-18T18:30:00Z"],
    ["America/St_Johns", "2026-11-19T03:30:00Z"],
  ])("midnight in %s is %s", (zone, midnight) => {
    expect(new Date(time.midnightOf("2026-11-19T10:20:30Z", zone)).toISOString()).toBe(midnight.replace("Z", ".000Z"));
  });
});

describe("colours of outcomes", () => {
  const style = fs.readFileSync(path.join(import.meta.dirname, "../../web/src/style/base.css"), "utf8");
  const [light = "", dark = ""] = style.split("@media (prefers-color-scheme: dark)");
  const NAMES = ["executed", "failed", "running", "skipped", "missed", "unschedulable", "none"];

  function coloursOf(text: string): readonly string[] {
    return NAMES.map((name) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(text)?.[1] ?? "");
  }

  test.each([
    ["light", light, "#ffffff"],
    ["dark", dark, "#1b2024"],
  ])("%s: kept apart for every kind of colour vision, and from the ground", (_title, text, ground) => {
    const colours = coloursOf(text);
    const distances = VISIONS.flatMap((vision) =>
      colours.flatMap((one, index) =>
        colours.slice(index + 1).map((other) => distance(seen(one, vision), seen(other, vision))),
      ),
    );
    expect(Math.min(...distances)).toBeGreaterThan(0.09);
    expect(Math.min(...colours.map((colour) => contrast(colour, ground)))).toBeGreaterThan(3);
  });
});

type Colour = readonly [red: number, green: number, blue: number];
type Vision = readonly [Colour, Colour, Colour];

/** Machado, Oliveira and Fernandes 2009, complete: none, protan, deutan and tritan. */
const VISIONS: readonly Vision[] = [
  [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
];

function linear(hex: string): Colour {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return [red, green, blue];
}

function times(matrix: Vision, [red, green, blue]: Colour): Colour {
  const [one, two, three] = matrix.map(([a, b, c]) => a * red + b * green + c * blue);
  return [one ?? 0, two ?? 0, three ?? 0];
}

/** As OKLab has it. */
function seen(hex: string, vision: Vision): Colour {
  const [red, green, blue] = times(vision, linear(hex)).map((part) => Math.max(0, Math.min(1, part)));
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    [red ?? 0, green ?? 0, blue ?? 0],
  ).map(Math.cbrt);
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    [cones[0] ?? 0, cones[1] ?? 0, cones[2] ?? 0],
  );
}

function distance(one: Colour, other: Colour): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [one, other]
    .map(linear)
    .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)
    .sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

test("everything of the page together is at most 60 kB, packed", () => {
  const folder = path.join(path.dirname(programs().krond), "web");
  const files = fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => path.join(folder, name));
  const packed = files
    .filter((file) => fs.statSync(file).isFile())
    .map((file) => gzipSync(fs.readFileSync(file), { level: 9 }).length);
  expect(packed.length).toBeGreaterThan(3);
  expect(packed.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(60_000);
});

test("what was missed because nobody could look says when that was", () => {
  const row = { startFailure: null, lastOutcome: "missed", lastReason: "down", lastRun: null, failures: 0 } as JobRow;
  expect(troubleText(row)).toBe("missed: krond was down");
  const [from, to] = ["2026-03-01T02:10:00Z", "2026-03-01T03:58:00Z"];
  const text = `missed: krond was down from ${time.momentText(from)} to ${time.momentText(to)}`;
  expect(troubleText({ ...row, lost: { from, to } })).toBe(text);
});
