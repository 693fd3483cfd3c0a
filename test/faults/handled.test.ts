/** S12, S22: the last line of defence: even a transition that nobody should ask for cannot handle a period again. */
import { describe, expect, test } from "vitest";
import { compileRule } from "../../src/core/decision/compile.js";
import { decide } from "../../src/core/decision/decide.js";
import { newDocument } from "../../src/core/state/document.js";
import { claimPeriod, closePeriod } from "../../src/core/state/period-transitions.js";
import { MINUTE_MS } from "../../src/core/time/instant.js";
import { ruleOf } from "../support/scheduling.js";

const NOON = Date.parse("2026-03-01T12:00:00Z");
const compiled = compileRule(ruleOf({ schedule: "* * * * *" }));
const HOLDER = { kind: "process", pid: 4_711, startTicks: 1, bootId: "boot" } as const;
const CLAIMED = { attemptId: "attempt", holder: HOLDER };
const MISSED = { outcome: "missed", reason: "deadline" } as const;

describe("S12: LastHandledPeriodID never decreases", () => {
  const { document } = closePeriod(newDocument("job"), decide(compiled, NOON), MISSED, NOON, 20);
  test.each([
    ["the handled period itself", 0],
    ["the one before it", -MINUTE_MS],
    ["one of the day before", -1_440 * MINUTE_MS],
  ])("neither claimed nor closed again: %s", (_, fromNoonMs) => {
    const decision = decide(compiled, NOON + fromNoonMs);
    expect(() => claimPeriod(document, decision, CLAIMED, NOON)).toThrow(/is handled already/);
    expect(() => closePeriod(document, decision, MISSED, NOON, 20)).toThrow(/is handled already/);
  });

  test("the one after it may be", () => {
    const decision = decide(compiled, NOON + MINUTE_MS);
    expect(claimPeriod(document, decision, CLAIMED, NOON + MINUTE_MS).document.LastOutcome).toBe("executed");
  });
});
