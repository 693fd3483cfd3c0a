/**
 * "Nothing twice, every period accounted for", judged after the fact by a slow and simple reading of the schedules: it
 * knows what was configured when, when no daemon ran, and what is on record, and nothing of how a daemon works.
 */

import { compileRule } from "../core/decision/compile.js";
import { decide } from "../core/decision/decide.js";
import type { CompiledRule } from "../core/decision/model.js";
import type { JobDefinition } from "../core/job/definition.js";
import { longestDeadlineMs } from "../core/period/lateness.js";
import { type EpochMs, formatInstant, MINUTE_MS, SECOND_MS } from "../core/time/instant.js";
import { judgeBoots } from "./boot-oracle.js";
import { type Circumstances, countUp, type JobHistory, type Span, secondOf } from "./job-history.js";
import type { RecordedOutcome } from "./records.js";
import { judgeRetries } from "./retry-oracle.js";
import { judgeSlots } from "./slot-oracle.js";
import { judgeStops } from "./stop-oracle.js";

/** What became of a period. Those of the ledger, and the reasons for having no record. */
export type Fate =
  | RecordedOutcome
  | "not_evaluated"
  | "suspended"
  | "paused"
  | "down"
  | "removed"
  | "open"
  | "unaccounted";

export const FATES = [
  "executed",
  "skipped",
  "missed",
  "unschedulable",
  "not_evaluated",
  "before_definition",
  "suspended",
  "paused",
  "down",
  "removed",
  "open",
  "unaccounted",
] as const satisfies readonly Fate[];

interface Judgement {
  readonly fates: ReadonlyMap<Fate, number>;
  readonly violations: readonly string[];
}

/** Beyond deadline and grace: ending what is replaced, and the time to look. */
const SLACK_MS = 2 * MINUTE_MS;
/** A clock change makes windows overlap by no more than this, and the newer period waits (S11). */
const HELD_MS = 24 * 60 * MINUTE_MS;

export function judgeJob(job: JobHistory, circumstances: Circumstances): Judgement {
  const fates = new Map<Fate, number>();
  for (const outcome of job.outcomes.values()) countUp(fates, outcome);
  const violations = [
    ...withoutRecord(job, circumstances, fates),
    ...untimely(job, circumstances),
    ...judgeSlots(job, circumstances),
    ...judgeRetries(job, circumstances),
    ...judgeBoots(job, circumstances),
    ...judgeStops(job),
  ];
  return { fates, violations };
}

interface Due {
  readonly nominalAt: EpochMs;
  readonly dueAt: EpochMs;
}

function* withoutRecord(job: JobHistory, around: Circumstances, fates: Map<Fate, number>): Iterable<string> {
  const seen = new Set<number>();
  for (const [index, { definition, fromAt }] of job.versions.entries()) {
    const untilAt = job.versions[index + 1]?.fromAt ?? around.endAt;
    if (definition === null) continue;
    for (const due of periodsDue(compileRule(definition), fromAt, Math.min(untilAt, around.endAt))) {
      const second = secondOf(due.nominalAt);
      if (job.outcomes.has(second) || seen.has(second)) continue;
      seen.add(second);
      const fate = fateOf(job, definition, due, untilAt, around);
      countUp(fates, fate);
      if (fate === "unaccounted") yield `${job.identity}@${formatInstant(due.nominalAt)} is not accounted for`;
    }
  }
}

/** S15: an unschedulable period is due when its window opens. */
function* periodsDue(compiled: CompiledRule, fromAt: EpochMs, untilAt: EpochMs): Iterable<Due> {
  const spanMs = compiled.frame.spanSeconds * 1000;
  const lastAt = untilAt + compiled.leadMs;
  for (const nominalAt of compiled.schedule.between(fromAt - spanMs, lastAt + 1)) {
    const { chosenAt, windowStartAt } = decide(compiled, nominalAt);
    const dueAt = chosenAt ?? windowStartAt;
    if (dueAt >= fromAt && dueAt < untilAt) yield { nominalAt, dueAt };
  }
}

function fateOf(
  job: JobHistory,
  { policy, pace, window }: JobDefinition,
  { nominalAt, dueAt }: Due,
  untilAt: EpochMs,
  around: Circumstances,
): Fate {
  if (job.gaps.some(({ firstAt, lastAt }) => firstAt <= nominalAt && nominalAt <= lastAt)) return "not_evaluated";
  if (policy.suspend) return "suspended";
  if (isWithin(job.pauses, dueAt)) return "paused";
  // S41: a hint stood in for the schedule.
  if (isWithin(job.hints, dueAt)) return "not_evaluated";
  if (isWithin(around.absences, dueAt)) return "down";
  const openMs =
    longestDeadlineMs(policy.deadlineMs, window.durationMs) +
    (pace?.minMs ?? 0) +
    around.settings.startGraceMs +
    around.settings.killGraceMs +
    SLACK_MS;
  // Periods are met in order: what a later one has been met after is not open any more.
  if (dueAt + openMs >= around.endAt && !hasLater(job, nominalAt)) return "open";
  // The clock, or another definition, came in between while it was still being tried.
  if (untilAt < around.endAt && dueAt + openMs >= untilAt) return "removed";
  if (around.absences.some(({ fromAt }) => fromAt >= dueAt && fromAt <= dueAt + openMs)) return "down";
  if (isWithin(around.repeats, dueAt)) return "down";
  return "unaccounted";
}

function hasLater(job: JobHistory, nominalAt: EpochMs): boolean {
  for (const second of job.outcomes.keys()) if (second > secondOf(nominalAt)) return true;
  return false;
}

function isWithin(spans: readonly Span[], at: EpochMs): boolean {
  return spans.some(({ fromAt, untilAt }) => fromAt <= at && at < untilAt);
}

/** S17: what was due in a pause never runs, unless that one catches up. */
function isPassedInPause({ pauses }: JobHistory, chosenAt: EpochMs, startedAt: EpochMs): boolean {
  return pauses.some(({ surelyFromAt, untilAt, catchesUp }) => {
    return (
      !catchesUp && surelyFromAt !== null && surelyFromAt < chosenAt && chosenAt < untilAt && startedAt >= chosenAt
    );
  });
}

/** Nothing starts before the instant that one of its definitions chose, nor long after its deadline. */
function* untimely(job: JobHistory, around: Circumstances): Iterable<string> {
  const rules = job.versions.flatMap(({ definition }) =>
    definition === null ? [] : [{ definition, compiled: compileRule(definition) }],
  );
  const { startGraceMs, killGraceMs } = around.settings;
  for (const [second, startedAt] of job.starts) {
    const nominalAt = second * SECOND_MS;
    const fits = rules.some(({ definition, compiled }) => {
      if (!compiled.schedule.matches(nominalAt)) return false;
      const { chosenAt } = decide(compiled, nominalAt);
      if (chosenAt === null || startedAt < chosenAt) return false;
      if (around.repeats.length === 0 && isPassedInPause(job, chosenAt, startedAt)) return false;
      const deadlineMs = longestDeadlineMs(definition.policy.deadlineMs, definition.window.durationMs);
      const latestMs =
        2 * (deadlineMs + startGraceMs) +
        killGraceMs +
        SLACK_MS +
        (compiled.minMs ?? 0) +
        (compiled.frame.spanSeconds > 0 ? HELD_MS : 0);
      return startedAt <= chosenAt + latestMs || around.repeats.length > 0 || around.absences.length > 0;
    });
    if (fits) continue;
    yield `${job.identity}@${formatInstant(nominalAt)} began at ${formatInstant(startedAt)}, which no definition allows`;
  }
}
