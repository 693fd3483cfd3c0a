/**
 * The baseline of an endpoint as the governor has it. An expression is one of cron. What else the schedule of a job may be,
 * an interval, one time or a boot, is refused where it is written; earlier versions took it, so that it may be on record, and
 * runs by what it says.
 */
import type { Problem } from "../base/problem.js";
import { isOnce } from "../cron/at.js";
import { isEvery, parseEvery } from "../cron/every.js";
import { isReboot } from "../cron/reboot.js";
import type { GovernedEndpoint } from "../governor/next-run.js";
import type { EndpointSpec } from "./spec.js";

type Baseline = Pick<
  EndpointSpec,
  "baselineCron" | "baselineIntervalMs" | "timezone" | "minIntervalMs" | "maxIntervalMs"
>;

/** Why this is no expression of cron; null: it may be one. */
export function expressionProblem(expression: string): Problem | null {
  const hint = otherWay(expression);
  if (hint === null) return null;
  const message = `${expression.trim().split(/[ \t]/)[0]} is no cron expression`;
  return { code: "cron-syntax", message, path: ["baselineCron"], hint };
}

function otherWay(expression: string): string | null {
  if (isEvery(expression))
    return `leave it out, and set baselineIntervalMs to ${everyMsOf(expression) ?? "an interval"}`;
  if (isOnce(expression))
    return "write an expression of five fields; one run at a time of its own is what a one-shot hint is for";
  return isReboot(expression) ? "write an expression of five fields; an endpoint has no boot" : null;
}

/** What no bound of a pace is said of: it runs once, or once for each boot. */
export function hasPace({ baselineCron }: Pick<Baseline, "baselineCron">): boolean {
  return baselineCron === null || !(isOnce(baselineCron) || isReboot(baselineCron));
}

export function governedOf({ baselineCron, baselineIntervalMs, ...rest }: Baseline): GovernedEndpoint {
  const { timezone, minIntervalMs, maxIntervalMs } = rest;
  const about = { timezone, minIntervalMs, maxIntervalMs };
  if (baselineCron === null || otherWay(baselineCron) === null) return { ...about, baselineCron, baselineIntervalMs };
  return { ...about, baselineIntervalMs: isEvery(baselineCron) ? everyMsOf(baselineCron) : null };
}

function everyMsOf(expression: string): number | null {
  const read = parseEvery(expression);
  return read.ok ? read.value : null;
}
