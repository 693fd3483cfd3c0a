/** Reads the fields on which a decision depends: from raw texts to a `SchedulingRule`. Each field is judged by itself. */

import { checkIdentity, checkSalt } from "../base/identity.js";
import { LIMITS } from "../base/limits.js";
import { memoised } from "../base/memo.js";
import { type Problem, problemAt } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { ONCE_DST } from "../cron/once.js";
import { DEFAULT_DST as USUAL_DST } from "../cron/schedule.js";
import { type Calendars, NO_CALENDARS } from "../decision/constraint/calendars.js";
import { checkClauseCount, parseConstraintText } from "../decision/constraints.js";
import { parseDistribution } from "../decision/distributions.js";
import type {
  Clause,
  Constraints,
  Distribution,
  SchedulingRule,
  SeedRule,
  WindowMode,
  WindowRule,
} from "../decision/rule.js";
import type { DstRule } from "../time/dst.js";
import { formatDuration, parseDuration } from "../time/duration.js";
import { SECOND_MS } from "../time/instant.js";
import { zoneOf } from "../time/zone.js";
import { take } from "./reading.js";
import { conflictsWithOnce, conflictsWithoutPeriods, readPace, readSchedule } from "./schedule-reader.js";
import type { PartialRawJob } from "./shape.js";

export interface ReadOptions {
  /** Whether identities with the prefixes of S37 may appear: only for readers that make them. */
  readonly mayUseReservedPrefix?: boolean;
  /** Those that clauses may call by their names. */
  readonly calendars?: Calendars;
}

const DEFAULT_DST: DstRule = Object.freeze({ ...USUAL_DST });
const DEFAULT_WINDOW: WindowRule = Object.freeze({ mode: "after", durationMs: 0 });
const DEFAULT_SEED: SeedRule = Object.freeze({ strategy: "stable", salt: "" });
const DEFAULT_DISTRIBUTION: Distribution = Object.freeze({ name: "uniform" });
const NO_CONSTRAINTS: Constraints = Object.freeze({ only: Object.freeze([]), avoid: Object.freeze([]) });

/**
 * `raw` has defaults merged in; `own` is what the job itself says, which decides where a contradiction between the two
 * is reported. Problems are appended; the result is only meaningful when there were none.
 */
export function readRule(
  raw: PartialRawJob,
  own: PartialRawJob,
  options: ReadOptions,
  problems: Problem[],
): SchedulingRule {
  const schedule = readSchedule(raw, problems);
  const kind = schedule?.kind ?? "cron";
  // Defaults that speak of periods are not meant for jobs that have none, nor is a pace for what has no rhythm.
  const period = kind === "cron" || kind === "once" ? raw : own;
  const window = readWindow(period.window, problems);
  if (schedule !== null && window.durationMs > schedule.smallestGapMs) {
    problems.push(overlap(window, schedule.smallestGapMs, own));
  }
  const pace = readPace(kind === "reboot" || kind === "once" ? own : raw, own, problems);
  const rule = {
    identity: readIdentity(raw.identity, options, problems),
    schedule: schedule?.text ?? "",
    timezone: readTimezone(raw.timezone, problems),
    dst: kind === "once" ? readOnceDst(period.dst) : readDst(period.dst),
    window,
    distribution: readDistribution(period.distribution, window.mode, problems),
    seed: readSeed(period.seed, problems),
    constraints: readConstraints(period.constraints, options, problems),
    ...(pace === null ? {} : { pace }),
  };
  if (kind === "once") problems.push(...conflictsWithOnce(rule, own));
  else if (kind !== "cron") problems.push(...conflictsWithoutPeriods(kind, rule));
  return rule;
}

function readIdentity(identity: string | undefined, options: ReadOptions, problems: Problem[]): string {
  const problem = identity === undefined ? null : checkIdentity(identity, options.mayUseReservedPrefix);
  if (problem !== null) problems.push(problemAt(problem, "identity"));
  return identity ?? "";
}

/** S11. When the window comes from `defaults`, it is the job's schedule that does not go with it. */
function overlap(window: WindowRule, smallestGapMs: number, own: PartialRawJob): Problem {
  const message = `window ${formatDuration(window.durationMs)} exceeds the smallest gap between periods, ${formatDuration(smallestGapMs)}`;
  const path = own.window?.duration === undefined ? ["schedule"] : ["window", "duration"];
  return { code: "window-overlap", message, path };
}

function readTimezone(id: string | undefined, problems: Problem[]): string {
  return id === undefined ? "UTC" : (take(zoneOf(id), ["timezone"], null, problems)?.id ?? "UTC");
}

const dstOf = memoised((key): DstRule => {
  const [gap, overlap] = key.split("|");
  return Object.freeze({ gap: gap as DstRule["gap"], overlap: overlap as DstRule["overlap"] });
});

function readDst(raw: PartialRawJob["dst"]): DstRule {
  return raw === undefined ? DEFAULT_DST : dstOf(`${raw.gap ?? DEFAULT_DST.gap}|${raw.overlap ?? DEFAULT_DST.overlap}`);
}

/** S3: it is one time, whatever defaults say of repeated ones. */
function readOnceDst(raw: PartialRawJob["dst"]): DstRule {
  const { gap = ONCE_DST.gap, overlap = ONCE_DST.overlap } = raw ?? {};
  return dstOf(`${gap}|${overlap === "both" ? ONCE_DST.overlap : overlap}`);
}

const windowOf = memoised((key): Result<WindowRule, Problem> => {
  const at = key.indexOf("|");
  const duration = windowDuration(key.slice(at + 1));
  return duration.ok ? ok(Object.freeze({ mode: windowMode(key.slice(0, at)), durationMs: duration.value })) : duration;
});

function readWindow(raw: PartialRawJob["window"], problems: Problem[]): WindowRule {
  if (raw === undefined) return DEFAULT_WINDOW;
  const window = windowOf(`${raw.mode ?? DEFAULT_WINDOW.mode}|${raw.duration ?? "0s"}`);
  return take(window, ["window", "duration"], DEFAULT_WINDOW, problems);
}

function windowMode(mode: string): WindowMode {
  return mode === "center" ? "around" : (mode as WindowMode);
}

function windowDuration(text: string): Result<number, Problem> {
  const duration = parseDuration(text);
  if (!duration.ok) return duration;
  const span = { start: 0, end: text.length };
  if (duration.value > LIMITS.windowMs) {
    const message = `window ${formatDuration(duration.value)} exceeds the limit of ${formatDuration(LIMITS.windowMs)}`;
    return err({ code: "duration-range", message, path: [], span });
  }
  if (duration.value % SECOND_MS !== 0) {
    return err({ code: "duration-range", message: "a window lasts whole seconds", path: [], span });
  }
  return duration;
}

const distributionOf = memoised((key): Result<Distribution, readonly Problem[]> => {
  const [mode, name, params] = JSON.parse(key) as [WindowMode, string, Record<string, unknown>];
  return parseDistribution(name, params, mode);
});

function readDistribution(raw: PartialRawJob["distribution"], mode: WindowMode, problems: Problem[]): Distribution {
  if (raw === undefined) return DEFAULT_DISTRIBUTION;
  const { name, ...params } = typeof raw === "string" ? { name: raw } : raw;
  const distribution = distributionOf(JSON.stringify([mode, name, params]));
  if (distribution.ok) return distribution.value;
  problems.push(...distribution.error.map((problem) => problemAt(problem, "distribution")));
  return DEFAULT_DISTRIBUTION;
}

function readSeed(raw: PartialRawJob["seed"], problems: Problem[]): SeedRule {
  if (raw === undefined) return DEFAULT_SEED;
  const { strategy = DEFAULT_SEED.strategy, salt = DEFAULT_SEED.salt } = raw;
  const problem = checkSalt(salt);
  if (salt !== "" && problem !== null) problems.push(problemAt(problem, "seed", "salt"));
  return Object.freeze({ strategy, salt });
}

type RawClauses = string | string[] | undefined;

type ConstraintsReader = (key: string) => Result<Constraints, readonly Problem[]>;

/** Where other calendars are known, the same text means something else. */
const readersOf = new WeakMap<Calendars, ConstraintsReader>();

function readerWith(calendars: Calendars): ConstraintsReader {
  const known = readersOf.get(calendars);
  if (known !== undefined) return known;
  const reader = memoised((key) => constraintsOf(key, calendars));
  readersOf.set(calendars, reader);
  return reader;
}

function constraintsOf(key: string, calendars: Calendars): Result<Constraints, readonly Problem[]> {
  const raw = JSON.parse(key) as { only?: string | string[]; avoid?: string | string[] };
  const problems: Problem[] = [];
  const only = readClauses(raw.only, "only", calendars, problems);
  const avoid = readClauses(raw.avoid, "avoid", calendars, problems);
  const constraints = Object.freeze({ only, avoid });
  const tooMany = problems.length === 0 ? checkClauseCount(constraints) : null;
  if (tooMany !== null) problems.push(tooMany);
  return problems.length === 0 ? ok(constraints) : err(problems);
}

function readConstraints(
  raw: PartialRawJob["constraints"],
  { calendars = NO_CALENDARS }: ReadOptions,
  problems: Problem[],
): Constraints {
  if (raw === undefined) return NO_CONSTRAINTS;
  const constraints = readerWith(calendars)(JSON.stringify({ only: raw.only, avoid: raw.avoid }));
  if (constraints.ok) return constraints.value;
  problems.push(...constraints.error.map((problem) => problemAt(problem, "constraints")));
  return NO_CONSTRAINTS;
}

function readClauses(
  raw: RawClauses,
  set: "only" | "avoid",
  calendars: Calendars,
  problems: Problem[],
): readonly Clause[] {
  if (raw === undefined) return NO_CONSTRAINTS[set];
  if (typeof raw === "string") return clausesOf(raw, [set], calendars, problems);
  if (raw.length > LIMITS.clausesPerJob) {
    const message = `${raw.length} clauses, more than the limit of ${LIMITS.clausesPerJob}`;
    problems.push({ code: "limit-exceeded", message, path: [set] });
    return NO_CONSTRAINTS[set];
  }
  return Object.freeze(raw.flatMap((text, index) => clausesOf(text, [set, index], calendars, problems)));
}

function clausesOf(
  text: string,
  path: readonly (string | number)[],
  calendars: Calendars,
  problems: Problem[],
): readonly Clause[] {
  const clauses = parseConstraintText(text, calendars);
  if (clauses.ok) return clauses.value;
  problems.push(...clauses.error.map((problem) => problemAt(problem, ...path)));
  return [];
}
