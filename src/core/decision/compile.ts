import { memoised } from "../base/memo.js";
import type { Problem } from "../base/problem.js";
import { ok, type Result } from "../base/result.js";
import { isOnce } from "../cron/at.js";
import { isEvery, NO_OCCURRENCES, parseEvery } from "../cron/every.js";
import { parseKronCron } from "../cron/kron-dialect.js";
import { compileOnce, parseOnce } from "../cron/once.js";
import { isReboot } from "../cron/reboot.js";
import { compileSchedule, type Schedule } from "../cron/schedule.js";
import type { DstRule } from "../time/dst.js";
import { zoneOf } from "../time/zone.js";
import { compileConstraints } from "./constraints.js";
import type { CompiledRule } from "./model.js";
import { statedRule } from "./record.js";
import type { SchedulingRule } from "./rule.js";
import { makeSampler } from "./sampler.js";
import { windowFrame } from "./window.js";

/**
 * A million jobs have a few thousand schedules: the same expression in the same zone is compiled once. About half a
 * kilobyte each.
 */
const compiledSchedule = memoised(
  (key): Result<Schedule, Problem> => {
    const [schedule, timezone, gap, overlap] = JSON.parse(key) as [string, string, DstRule["gap"], DstRule["overlap"]];
    const zone = zoneOf(timezone);
    if (isOnce(schedule)) {
      const time = parseOnce(schedule);
      if (!time.ok) return time;
      return zone.ok ? ok(compileOnce(time.value, zone.value, { gap, overlap })) : zone;
    }
    const fields = parseKronCron(schedule);
    if (!fields.ok) return fields;
    return zone.ok ? ok(compileSchedule(fields.value, zone.value, { gap, overlap })) : zone;
  },
  { entries: 20_000, chars: 512 },
);

/** The nominal times of a cron expression, or of the one time of a job, in a zone. */
export function scheduleOf({ schedule, timezone, dst }: ScheduleText): Result<Schedule, Problem> {
  return compiledSchedule(JSON.stringify([schedule, timezone, dst.gap, dst.overlap]));
}

type ScheduleText = Pick<SchedulingRule, "schedule" | "timezone" | "dst">;

/** Does once what all decisions of a rule share. A rule has been validated: one that cannot be compiled is a bug. */
export function compileRule(rule: SchedulingRule): CompiledRule {
  const zone = validated(zoneOf(rule.timezone), rule);
  const frame = windowFrame(rule.window);
  const runsAtBoot = isReboot(rule.schedule);
  const everyMs = isEvery(rule.schedule) ? validated(parseEvery(rule.schedule), rule) : null;
  return {
    rule,
    zone,
    schedule: everyMs === null && !runsAtBoot ? validated(scheduleOf(rule), rule) : NO_OCCURRENCES,
    everyMs,
    isReboot: runsAtBoot,
    minMs: rule.pace?.minMs ?? null,
    maxMs: rule.pace?.maxMs ?? null,
    leadMs: frame.leadMs,
    frame,
    sample: makeSampler(rule.distribution, frame),
    accepts: compileConstraints(rule.constraints, zone),
    stated: statedRule(rule),
  };
}

function validated<T>(result: Result<T, Problem>, rule: SchedulingRule): T {
  if (!result.ok) {
    throw new Error(`invariant broken: the rule of ${rule.identity} was not validated: ${result.error.message}`);
  }
  return result.value;
}
