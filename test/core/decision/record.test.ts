import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { toDecisionRecord } from "../../../src/core/decision/record.js";
import type { SchedulingRule } from "../../../src/core/decision/rule.js";
import { at, clausesOf, PLAIN_RULE } from "./rules.js";

const RULE: SchedulingRule = {
  identity: "msgs/paris",
  schedule: "0 10 * * MON-FRI",
  timezone: "Europe/Paris",
  dst: { gap: "next", overlap: "first" },
  window: { mode: "around", durationMs: 5_400_000 },
  distribution: { name: "skewLate", shape: 2.5 },
  seed: { strategy: "stable", salt: "msgs" },
  constraints: { only: clausesOf("dow=mon-fri; hours=09-11"), avoid: clausesOf("dates=2026-12-24..2026-12-31") },
};
const VERSIONS = { tzVersion: "2026c", engineVersion: "1.2.3" };

function recordOf(rule: SchedulingRule, nominal: string) {
  const compiled = compileRule(rule);
  return toDecisionRecord(compiled, decide(compiled, at(nominal)), VERSIONS);
}

describe("SPEC outputs: the decision record", () => {
  test("has exactly the contract's fields, in its order", () => {
    const record = recordOf(RULE, "2026-03-02T09:00:00Z");
    expect(Object.entries(record)).toEqual([
      ["identity", "msgs/paris"],
      ["schedule", "0 10 * * MON-FRI"],
      ["dst", { gap: "next", overlap: "first" }],
      ["period_id", "2026-03-02T09:00:00Z"],
      ["period_key", "2026-03-02T09:00:00Z"],
      ["nominal_time", "2026-03-02T09:00:00Z"],
      ["window_mode", "around"],
      ["window_duration", "1h30m"],
      ["window_start", "2026-03-02T08:15:00Z"],
      ["window_end", "2026-03-02T09:45:00Z"],
      ["chosen_time", "2026-03-02T09:27:06Z"],
      ["timezone", "Europe/Paris"],
      ["tz_version", "2026c"],
      ["distribution", "skewLate"],
      ["dist_params", { shape: 2.5 }],
      ["seed_strategy", "stable"],
      ["salt", "msgs"],
      ["seed_hash", "8b95acf566414238f55eb4541a1bc726b80d02fe86a0cd2ad52988a74860b2f5"],
      ["attempts", 1],
      ["constraints_applied", { only: "dow=MON-FRI;hours=9-11", avoid: "dates=2026-12-24..2026-12-31" }],
      ["unschedulable", false],
      ["reason", ""],
      ["engine_version", "1.2.3"],
    ]);
  });

  test("of an unschedulable period has a reason and no chosen time, and the rest as ever", () => {
    const closed = { ...RULE, constraints: { only: clausesOf("hours=3"), avoid: [] } };
    const record = recordOf(closed, "2026-03-02T09:00:00Z");
    expect(record).toEqual({
      ...recordOf(RULE, "2026-03-02T09:00:00Z"),
      chosen_time: "",
      attempts: 64,
      constraints_applied: { only: "hours=3", avoid: "" },
      unschedulable: true,
      reason: "no candidate accepted within 64 attempts",
    });
  });

  test("has the same reason when a window of one second is excluded", () => {
    const exact = { ...PLAIN_RULE, window: { mode: "after", durationMs: 0 } as const };
    const record = recordOf(
      { ...exact, constraints: { only: clausesOf("hours=3"), avoid: [] } },
      "2026-03-02T09:00:00Z",
    );
    expect(record).toMatchObject({
      attempts: 0,
      reason: "no candidate accepted within 64 attempts",
      unschedulable: true,
    });
  });

  test("compiling a rule that was not validated is a bug, not an input error", () => {
    expect(() => compileRule({ ...RULE, schedule: "nonsense" })).toThrow("invariant broken: the rule of msgs/paris");
    expect(() => compileRule({ ...RULE, timezone: "Mars/Olympus" })).toThrow("invariant broken");
  });
});
