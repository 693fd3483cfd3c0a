import { parseKronCron } from "../cron/kron-dialect.js";
import { compileSchedule } from "../cron/schedule.js";
import type { SchedulingRule } from "../job/definition.js";
import type { Problem } from "../problem.js";
import type { Result } from "../result.js";
import { zoneOf } from "../time/zone.js";
import { compileConstraints } from "./constraints.js";
import type { CompiledRule } from "./model.js";
import { statedRule } from "./record.js";
import { makeSampler } from "./sampler.js";
import { windowFrame } from "./window.js";

/** Does once what all decisions of a rule share. A rule has been validated: one that cannot be compiled is a bug. */
export function compileRule(rule: SchedulingRule): CompiledRule {
  const zone = validated(zoneOf(rule.timezone), rule);
  const frame = windowFrame(rule.window);
  return {
    rule,
    zone,
    schedule: compileSchedule(validated(parseKronCron(rule.schedule), rule), zone, rule.dst),
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
