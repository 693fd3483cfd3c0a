/** Definitions for tests of forecasts, and a forecast by brute force that knows nothing of how the real one searches. */
import fc from "fast-check";
import { compileRule } from "../../src/core/decision/compile.js";
import { decide } from "../../src/core/decision/decide.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { type RawJob, readJobDefinition } from "../../src/core/job/schema.js";
import { MINUTE_MS } from "../../src/core/time/instant.js";
import { requireOk } from "./results.js";

export function jobOf(raw: Partial<RawJob> = {}): JobDefinition {
  const whole = { identity: "test/job", schedule: "0 * * * *", command: ["/bin/true"], ...raw };
  return requireOk(readJobDefinition(whole));
}

export interface BruteStart {
  readonly identity: string;
  readonly nominalAt: number;
  readonly startAt: number;
}

export interface BruteForecast {
  readonly chosen: readonly BruteStart[];
  readonly nominal: readonly BruteStart[];
  readonly unschedulable: number;
}

/**
 * Looks at every minute far around the horizon, decides each that the schedule names, and keeps what falls inside. Windows
 * in tests are shorter than the margin.
 */
export function bruteForecast(
  definitions: readonly JobDefinition[],
  fromAt: number,
  toAt: number,
  marginMs: number,
): BruteForecast {
  const chosen: BruteStart[] = [];
  const nominal: BruteStart[] = [];
  let unschedulable = 0;
  const isInside = (at: number): boolean => at >= fromAt && at < toAt;
  for (const definition of definitions.filter(({ policy }) => !policy.suspend)) {
    const { identity } = definition;
    const compiled = compileRule(definition);
    let handledAt = Number.NEGATIVE_INFINITY;
    const firstMinute = Math.ceil((fromAt - marginMs) / MINUTE_MS) * MINUTE_MS;
    for (let at = firstMinute; at < toAt + marginMs; at += MINUTE_MS) {
      if (!compiled.schedule.matches(at)) continue;
      const decision = decide(compiled, at);
      // S11: the older period first, whatever was chosen.
      handledAt = Math.max(handledAt, decision.chosenAt ?? decision.windowStartAt);
      if (isInside(at)) nominal.push({ identity, nominalAt: at, startAt: at });
      if (!isInside(handledAt)) continue;
      if (decision.chosenAt === null) unschedulable += 1;
      else chosen.push({ identity, nominalAt: at, startAt: handledAt });
    }
  }
  return { chosen, nominal, unschedulable };
}

/** Schedules with the longest windows they allow, so that clock changes make neighbours meet. */
const SCHEDULED = fc.constantFrom<readonly [schedule: string, longestWindow: string]>(
  ["0 * * * *", "1h"],
  ["*/15 * * * *", "15m"],
  ["30 1,2,3 * * *", "1h"],
  ["0 1,3 * * *", "2h"],
  ["0 0 * * *", "24h"],
  ["17 2 * * *", "5h"],
  ["* * * * *", "1m"],
  ["59 23 * * SAT,SUN", "3h"],
  ["0 0 1 * *", "6h"],
);
const CLAUSES = ["between=00:00-02:30", "dow=SAT,SUN", "hours=1-2", "between=22:00-06:00"] as const;

const RULES = fc.record({
  scheduled: SCHEDULED,
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"),
  mode: fc.constantFrom("after" as const, "around" as const, "before" as const, null),
  gap: fc.constantFrom("skip" as const, "next" as const),
  overlap: fc.constantFrom("both" as const, "first" as const, "last" as const),
  name: fc.constantFrom("uniform" as const, "skewEarly" as const, "skewLate" as const),
  strategy: fc.constantFrom("stable" as const, "daily" as const, "weekly" as const),
  only: fc.option(fc.constantFrom(...CLAUSES)),
  avoid: fc.option(fc.constantFrom(...CLAUSES), { freq: 5 }),
  tags: fc.subarray(["db", "web"]),
  isSuspended: fc.boolean(),
});

/** A few jobs that disagree about everything. */
export const ANY_JOBS: fc.Arbitrary<readonly JobDefinition[]> = fc
  .array(RULES, { minLength: 1, maxLength: 4 })
  .map((rules) =>
    rules.map((rule, index) => {
      const [schedule, duration] = rule.scheduled;
      const constraints = {
        ...(rule.only === null ? {} : { only: rule.only }),
        ...(rule.avoid === null ? {} : { avoid: rule.avoid }),
      };
      return jobOf({
        identity: `job/${index}`,
        schedule,
        timezone: rule.timezone,
        dst: { gap: rule.gap, overlap: rule.overlap },
        ...(rule.mode === null ? {} : { window: { mode: rule.mode, duration } }),
        distribution: { name: rule.name },
        seed: { strategy: rule.strategy },
        constraints,
        policy: { suspend: rule.isSuspended && index === 1 },
        tags: rule.tags,
      });
    }),
  );
