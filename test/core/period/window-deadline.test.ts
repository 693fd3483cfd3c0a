/** S19: `deadline: window`. */
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { definitionToRaw, readJobDefinition } from "../../../src/core/job/schema.js";
import { deadlineMsOf, longestDeadlineMs } from "../../../src/core/period/lateness.js";
import { cronOccasion } from "../../../src/core/period/occasion.js";
import { verdict } from "../../../src/core/period/policy.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";

const FREE = { lastHandledAt: null, definedAt: null, carriedAt: null, pausedUntilAt: null };

function nightly(duration: string) {
  const raw = { identity: "a", schedule: "0 0 * * *", command: ["/bin/true"], policy: { deadline: "window" } };
  return requireOk(readJobDefinition({ ...raw, window: { duration } }));
}

describe("S19: until the window ends, and a minute at least", () => {
  test("whatever second is chosen, the last one of the window is on time, and the next is too late", () => {
    const job = nightly("3h");
    const occasion = cronOccasion(decide(compileRule(job), at("2026-03-01T00:00:00Z")));
    const judge = (now: string) => verdict(FREE, occasion, job.policy, [], at(now));
    expect(judge("2026-03-01T03:00:00Z")).toMatchObject({ kind: "start" });
    expect(judge("2026-03-01T03:00:01Z")).toEqual({ kind: "missed", reason: "deadline" });
  });

  test.each([
    ["0s", 60_000],
    ["10s", 60_000],
  ])("window %s: a minute", (duration, deadlineMs) => {
    const job = nightly(duration);
    const decision = decide(compileRule(job), at("2026-03-01T00:00:00Z"));
    expect(deadlineMsOf(job.policy.deadlineMs, decision)).toBe(deadlineMs);
    expect(longestDeadlineMs(job.policy.deadlineMs, job.window.durationMs)).toBe(deadlineMs);
  });

  test("a duration is what it says; what has no window has a minute", () => {
    expect(deadlineMsOf(5_000, null)).toBe(5_000);
    expect(deadlineMsOf("window", null)).toBe(60_000);
  });

  test("it is written as it was read, and a misspelt one is told what there is", () => {
    expect(definitionToRaw(nightly("3h")).policy).toMatchObject({ deadline: "window" });
    const raw = { identity: "a", schedule: "0 0 * * *", command: ["/bin/true"], policy: { deadline: "windw" } };
    const read = readJobDefinition(raw);
    expect(read).toMatchObject({
      ok: false,
      error: [{ code: "duration-syntax", path: ["policy", "deadline"], hint: expect.stringContaining("or window") }],
    });
  });
});
