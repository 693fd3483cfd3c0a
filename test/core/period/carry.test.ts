import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { carriedPeriod } from "../../../src/core/period/carry.js";
import { formatInstant } from "../../../src/core/time/instant.js";
import { at, ruleOf } from "../../support/scheduling.js";

const T10 = "2026-03-01T10:00:00Z";
const hourly = compileRule(ruleOf());

describe("what an edit carries over", () => {
  test.each<
    [
      title: string,
      lastHandled: string | null,
      defined: string,
      carried: string | null,
      now: string,
      seen: string | null,
    ]
  >([
    ["the live period", null, "2026-01-01T00:00:00Z", null, "2026-03-01T10:20:00Z", T10],
    ["nothing, if it is handled", T10, "2026-01-01T00:00:00Z", null, "2026-03-01T10:20:00Z", null],
    [
      "nothing, if a later one is handled",
      "2026-03-01T12:00:00Z",
      "2026-01-01T00:00:00Z",
      null,
      "2026-03-01T10:20:00Z",
      null,
    ],
    ["nothing that was never to be triggered", null, "2026-03-01T10:10:00Z", null, "2026-03-01T10:20:00Z", null],
    ["what an earlier edit had carried", null, "2026-03-01T10:10:00Z", T10, "2026-03-01T10:20:00Z", T10],
  ])("S14: %s", (_title, lastHandled, defined, carried, now, seen) => {
    const standing = {
      lastHandledAt: lastHandled === null ? null : at(lastHandled),
      definedAt: at(defined),
      carriedAt: carried === null ? null : at(carried),
      pausedUntilAt: null,
    };
    const carriedAt = carriedPeriod(hourly, standing, at(now));
    expect(carriedAt === null ? null : formatInstant(carriedAt)).toBe(seen);
  });
});
