import { describe, expect, test } from "vitest";
import { compileRule } from "../../src/core/decision/compile.js";
import type { SchedulingRule } from "../../src/core/decision/rule.js";
import type { Policy } from "../../src/core/job/definition.js";
import { at, policyOf, ruleOf } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const T10 = "2026-03-01T10:00:00Z";
const EDITED = "2026-03-01T10:20:00Z";
const DEADLINE = { deadlineMs: 3_600_000 };

interface Change {
  readonly rule?: Partial<SchedulingRule>;
  readonly policy?: Partial<Policy>;
}

describe("an edit while the period of ten o'clock is handled", () => {
  test.each<[title: string, change: Change]>([
    ["schedule", { rule: { schedule: "*/10 * * * *" } }],
    ["timezone", { rule: { timezone: "Asia/Kathmandu" } }],
    ["window mode and duration", { rule: { window: { mode: "around", durationMs: 1_800_000 } } }],
    ["distribution", { rule: { distribution: { name: "skewLate", shape: 3 } } }],
    ["constraints", { rule: { constraints: { only: [{ kind: "hours", ranges: [{ from: 0, to: 23 }] }], avoid: [] } } }],
    ["seed strategy", { rule: { seed: { strategy: "daily", salt: "" } } }],
    ["salt", { rule: { seed: { strategy: "stable", salt: "x" } } }],
    ["policy", { policy: { concurrency: "allow", deadlineMs: 7_200_000 } }],
  ])("SPEC: a handled period is not executed again after a change of %s", (_title, { rule, policy }) => {
    const job = new Scenario({ document: { DefinitionHash: "h1" }, policy: DEADLINE });
    job.wake("2026-03-01T09:59:00Z", true);
    job.wake(T10);
    job.start(T10, "a1");
    job.exited("2026-03-01T10:01:00Z", "a1");
    const handled = job.document.LastHandledPeriodID;
    expect(handled).toBe(T10);
    job.scope = { ...job.scope, compiled: compileRule(ruleOf(rule)), policy: policyOf({ ...DEADLINE, ...policy }) };
    const effects = [
      ...job.tell(EDITED, { type: "DEFINE", hash: "h2", carriedAt: null }),
      ...job.wake(EDITED, true),
      ...job.wake("2026-03-01T10:25:00Z"),
    ];
    const armed = effects.flatMap((effect) => /^arm \S+ period (\S+)$/.exec(effect)?.[1] ?? []);
    expect(armed.filter((period) => at(period) <= at(handled))).toEqual([]);
    expect(job.document.LastHandledPeriodID >= handled).toBe(true);
  });
});
