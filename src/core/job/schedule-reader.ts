/**
 * Reads when a job is due: a cron expression, one time, an interval or a boot of the machine, and the bounds of the time
 * between its runs. What speaks of periods alone (windows and what is decided in them) has nothing to say about the last two.
 */
import { memoised } from "../base/memo.js";
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { isOnce } from "../cron/at.js";
import { everyText, isEvery, NO_OCCURRENCES, parseEvery, parseInterval } from "../cron/every.js";
import { parseKronCron } from "../cron/kron-dialect.js";
import { type OneTime, parseOnce, parseOneTime } from "../cron/once.js";
import { isReboot, REBOOT } from "../cron/reboot.js";
import { compileSchedule } from "../cron/schedule.js";
import type { Pace, SchedulingRule } from "../decision/rule.js";
import { formatDuration } from "../time/duration.js";
import { zoneOf } from "../time/zone.js";
import { take } from "./reading.js";
import type { PartialRawJob } from "./shape.js";

type ScheduleKind = "cron" | "once" | "interval" | "reboot";

interface KnownSchedule {
  readonly text: string;
  readonly kind: ScheduleKind;
  /** S11: Infinity where there is at most one nominal time. */
  readonly smallestGapMs: number;
}

const cronOf = memoised((text): Result<KnownSchedule, Problem> => {
  const fields = parseKronCron(text);
  const utc = zoneOf("UTC");
  if (!fields.ok) return fields;
  if (!utc.ok) return utc;
  // S11: gaps are measured in wall-clock time, so any zone will do.
  const { smallestGapMs } = compileSchedule(fields.value, utc.value);
  return ok({ text: text.trim(), kind: "cron", smallestGapMs });
});

const AT_BOOT: KnownSchedule = { text: REBOOT, kind: "reboot", smallestGapMs: NO_OCCURRENCES.smallestGapMs };

/** null: it cannot be read, or is missing. */
export function readSchedule(raw: PartialRawJob, problems: Problem[]): KnownSchedule | null {
  const { schedule, every, at } = raw;
  const [first, ...others] = (["schedule", "every", "at"] as const).filter((field) => raw[field] !== undefined);
  for (const other of others) {
    const message = `a job has ${MEANT[first ?? other]} or ${MEANT[other]}, not both`;
    problems.push({ code: "field-conflict", message, path: [other], hint: `leave ${first} or ${other} out` });
  }
  if (schedule !== undefined) return take(scheduleOf(schedule), ["schedule"], null, problems);
  if (every !== undefined) return take(intervalOf(parseInterval(every)), ["every"], null, problems);
  if (at !== undefined) return take(onceOf(parseOneTime(at)), ["at"], null, problems);
  const hint = "write schedule: 0 3 * * *, every: 90s or at: 2026-12-01T03:00";
  problems.push({ code: "field-missing", message: 'missing field "schedule"', path: ["schedule"], hint });
  return null;
}

const MEANT = { schedule: "a cron schedule", every: "an interval", at: "one time" } as const;

function scheduleOf(text: string): Result<KnownSchedule, Problem> {
  if (isReboot(text)) return ok(AT_BOOT);
  if (isOnce(text)) return onceOf(parseOnce(text));
  return isEvery(text) ? intervalOf(parseEvery(text)) : cronOf(text);
}

function intervalOf(everyMs: Result<number, Problem>): Result<KnownSchedule, Problem> {
  if (!everyMs.ok) return everyMs;
  const { smallestGapMs } = NO_OCCURRENCES;
  return ok({ text: everyText(everyMs.value), kind: "interval", smallestGapMs });
}

function onceOf(time: Result<OneTime, Problem>): Result<KnownSchedule, Problem> {
  if (!time.ok) return time;
  const { smallestGapMs } = NO_OCCURRENCES;
  return ok({ text: time.value.text, kind: "once", smallestGapMs });
}

const LEAVE_OUT = "leave it out for no bound";

const boundOf = memoised((text): Result<number, Problem> => {
  const bound = parseInterval(text);
  return bound.ok || bound.error.code !== "duration-range" ? bound : err({ ...bound.error, hint: LEAVE_OUT });
});

const paceOf = memoised((key): Pace => {
  const [minMs, maxMs] = JSON.parse(key) as [number | null, number | null];
  return Object.freeze({ minMs, maxMs });
});

/** `raw` has defaults merged in; a contradiction is reported where the job itself speaks. */
export function readPace(raw: PartialRawJob, own: PartialRawJob, problems: Problem[]): Pace | null {
  if (raw.min_interval === undefined && raw.max_interval === undefined) return null;
  const minMs = readBound(raw.min_interval, "min_interval", problems);
  const maxMs = readBound(raw.max_interval, "max_interval", problems);
  if (minMs !== null && maxMs !== null && minMs > maxMs) {
    const message = `min_interval ${formatDuration(minMs)} is longer than max_interval ${formatDuration(maxMs)}`;
    const path = own.min_interval === undefined ? ["max_interval"] : ["min_interval"];
    problems.push({ code: "duration-range", message, path });
  }
  return paceOf(JSON.stringify([minMs, maxMs]));
}

function readBound(
  text: string | undefined,
  field: "min_interval" | "max_interval",
  problems: Problem[],
): number | null {
  return text === undefined ? null : take(boundOf(text), [field], null, problems);
}

/** How a job without periods is called, and why the wall clock is nothing to it. */
const PERIODLESS = {
  interval: { who: "an interval", clock: "leave it out: clock changes do not matter to it" },
  reboot: { who: "a job that runs at boot", clock: "leave it out: a boot has no wall time" },
} as const;

/** What such a job says of cron periods. To say what would hold anyway, as the canonical form does, is no fault. */
export function conflictsWithoutPeriods(kind: keyof typeof PERIODLESS, rule: SchedulingRule): Problem[] {
  const { window, distribution, seed, dst, constraints, pace } = rule;
  const { who, clock } = PERIODLESS[kind];
  const problems: Problem[] = [];
  const refuse = (message: string, path: readonly string[], hint: string): void => {
    problems.push({ code: "field-conflict", message, path, hint });
  };
  const hint = "leave it out, or write a cron schedule";
  if (window.durationMs > 0) {
    refuse(kind === "interval" ? "an interval has no windows" : `${who} has no window`, ["window", "duration"], hint);
  }
  if (distribution.name !== "uniform") {
    refuse(`${who} has no windows to choose a second in`, ["distribution"], hint);
  }
  if (seed.strategy !== "stable" || seed.salt !== "") {
    refuse(`${who} has no windows to choose a second in`, ["seed"], hint);
  }
  if (dst.gap !== "skip" || dst.overlap !== "both") {
    refuse(`${who} does not follow the wall clock`, ["dst"], clock);
  }
  if (constraints.only.length > 0 || constraints.avoid.length > 0) {
    refuse(`constraints choose among the seconds of a window, and ${who} has none`, ["constraints"], hint);
  }
  if (kind === "reboot" && pace !== undefined) {
    refuse(`${who} has no pace: it runs once for each boot`, [paceField(pace)], hint);
  }
  return problems;
}

/** What a job with one time says of several. */
export function conflictsWithOnce(rule: SchedulingRule, own: PartialRawJob): Problem[] {
  const who = "a job that runs once";
  const problems: Problem[] = [];
  if (rule.pace !== undefined) {
    const message = `${who} has no pace: no run comes before or after it`;
    const hint = "leave it out, or write a cron schedule";
    problems.push({ code: "field-conflict", message, path: [paceField(rule.pace)], hint });
  }
  if (own.dst?.overlap === "both") {
    const hint = "write first (default) or last";
    problems.push({ code: "field-conflict", message: `${who} has no second time`, path: ["dst", "overlap"], hint });
  }
  return problems;
}

function paceField({ minMs }: Pace): string {
  return minMs === null ? "max_interval" : "min_interval";
}
