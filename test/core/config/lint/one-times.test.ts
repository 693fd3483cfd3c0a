/** What lint says of jobs that run once. */
import { describe, expect, test } from "vitest";
import { deadlineWarnings } from "../../../../src/core/config/lint/deadlines.js";
import { lintWarnings } from "../../../../src/core/config/lint/lint.js";
import { compileRule } from "../../../../src/core/decision/compile.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../../src/core/job/schema.js";
import { requireOk } from "../../../support/results.js";

const NOW = Date.parse("2026-03-01T00:00:00Z");
const WINDOW = { policy: { deadline: "window" } };

function job(at: string, more: object = {}, identity = "a"): JobDefinition {
  return requireOk(readJobDefinition({ identity, at, timezone: "Europe/Berlin", command: ["x"], ...WINDOW, ...more }));
}

const told = (...jobs: readonly JobDefinition[]): readonly string[] =>
  lintWarnings(jobs.map(compileRule), NOW).map(({ kind, message }) => `${kind}: ${message}`);

describe("a clock change at its time", () => {
  test.each<[string, object, readonly string[]]>([
    ["2026-03-29T01:30", {}, []],
    [
      "2026-03-29T02:30",
      {},
      [
        "once-skipped: a clock change skips 2026-03-29T02:30 in Europe/Berlin: a runs at the end of the gap, 2026-03-29T01:00:00Z",
      ],
    ],
    [
      "2026-03-29T02:30",
      { dst: { gap: "skip" } },
      ["once-skipped: a clock change skips 2026-03-29T02:30 in Europe/Berlin, and dst.gap is skip: a never runs"],
    ],
    ["2026-03-29T02:30", { timezone: "UTC" }, []],
    ["2026-03-29T02:30+02:00", {}, []],
    [
      "2026-10-25T02:30",
      {},
      [
        "once-repeated: a clock change repeats 2026-10-25T02:30 in Europe/Berlin, at 2026-10-25T00:30:00Z and 2026-10-25T01:30:00Z: a runs at the first of them",
      ],
    ],
    ["2026-10-25T02:30", { dst: { overlap: "last" } }, []],
    ["2026-10-25T02:30+01:00", {}, []],
  ])("%s %j", (at, more, wanted) => {
    expect(told(job(at, more))).toEqual(wanted);
  });
});

describe("a time that is over", () => {
  test("one is named, several are counted; their windows count, and clock changes do not matter any more", () => {
    expect(told(job("2026-02-28T12:00"))).toEqual([
      "once-over: the time of a, @at 2026-02-28T12:00, is over: if it has not run by now, it never will",
    ]);
    expect(told(job("2026-02-28T12:00", {}, "a"), job("2025-10-26T02:30", {}, "b"))).toEqual([
      "once-over: the times of 2 jobs are over, the first is a, @at 2026-02-28T12:00: those that have not run by now never will",
    ]);
    expect(told(job("2026-03-01T00:00", { window: { duration: "2h" } }))).toEqual([]);
  });

  test("at most five are named, however many there are", () => {
    const jobs = Array.from({ length: 40 }, (_, i) => compileRule(job("2026-02-01T12:00", {}, `j${i}`)));
    const warnings = lintWarnings(jobs, NOW);
    expect(warnings.map(({ kind, identities }) => [kind, identities.length])).toEqual([["once-over", 5]]);
  });
});

test("S20: a deadline of 0s may cost it its only run", () => {
  const [warning, ...others] = deadlineWarnings([job("2026-12-01T03:00", { policy: {} })]);
  expect(others).toEqual([]);
  expect(warning?.message).toContain("costs a its only run");
  expect(deadlineWarnings([job("2026-12-01T03:00")])).toEqual([]);
});

test("constraints that exclude its only window are told", () => {
  const warnings = told(job("2026-12-01T03:00", { constraints: { only: "dow=MON" } }));
  expect(warnings.join()).toContain(
    "window-excluded: the constraints exclude the whole window in the only period examined, at 2026-12-01T02:00:00Z: it will be unschedulable",
  );
});
