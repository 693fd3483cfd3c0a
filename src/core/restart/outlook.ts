/**
 * What does this job wait for, looked at anew (S13, S41)? One answer for everybody who asks: a start for each job on
 * record, the machines when they return, a first sight, a report of what a reload would change, the status without a
 * daemon. It decides nothing and writes nothing.
 */
import { decide } from "../decision/decide.js";
import { type CompiledRule, hasPeriods } from "../decision/model.js";
import type { Policy } from "../job/definition.js";
import { governedOccasion, isGoverned, nextHintEndAt } from "../period/governed.js";
import { deadlineAt, deadlineMsOf, isPast } from "../period/lateness.js";
import { type CronOccasion, cronOccasion, type Occasion } from "../period/occasion.js";
import { nextPeriod, openingAt, planOnReturn } from "../period/periods.js";
import {
  FOR_GOOD_AT,
  isBeforeDefinition,
  isBeforeEvaluation,
  isDatedAhead,
  isPaused,
  type JobStanding,
} from "../period/policy.js";
import { isRetryWanted } from "../period/retried.js";
import type { EpochMs } from "../time/instant.js";

type Outlook =
  /** Nothing is to be judged or written now; but for `passed`, when that is news. */
  | {
      readonly kind: "rest";
      /** null: there is none left. */
      readonly occasion: Occasion | null;
      /** When the clock next changes something; null: only somebody can. */
      readonly wakeAt: EpochMs | null;
      /** S14: the period that was due before the definition and is passed over. */
      readonly passed: CronOccasion | null;
    }
  | { readonly kind: "act" };

const ACT: Outlook = { kind: "act" };

export interface OutlookRule {
  readonly compiled: CompiledRule;
  readonly isSuspended: boolean;
  /** How late a period may still start, where that is asked: after a pause that catches up. */
  readonly deadlineMs?: Policy["deadlineMs"];
  /** S51: from then on it is to be paused for good. Absent or null: never. */
  readonly stopAt?: EpochMs | null;
}

export function outlook(rule: OutlookRule, standing: JobStanding, now: EpochMs): Outlook {
  if (isOver(standing, now) || isDatedAhead(standing, now) || isToStop(rule, standing, now)) {
    return ACT;
  }
  try {
    return isGoverned(rule.compiled, standing) ? governed(rule, standing, now) : scheduled(rule, standing, now);
  } catch {
    // S18: what cannot be decided takes a step that says so.
    return ACT;
  }
}

/** The occasion that is still to come, whatever is to be done about the present one. */
export function aheadOf(rule: OutlookRule, standing: JobStanding, now: EpochMs): Occasion | null {
  if (standing.pausedUntilAt !== null && isPaused(standing, now)) {
    // S51: nobody knows when.
    if (standing.pausedUntilAt === FOR_GOOD_AT) return null;
    return afterPause(rule, standing, standing.pausedUntilAt);
  }
  const look = outlook(rule, standing, now);
  if (look.kind === "rest" && (look.occasion === null || look.occasion.dueAt >= now)) {
    return look.occasion;
  }
  const { compiled } = rule;
  if (isGoverned(compiled, standing)) {
    return governedOccasion(compiled, standing, () => scheduledAhead(compiled, standing, now), now);
  }
  return scheduledAhead(compiled, standing, now);
}

/** S17: the first that is due when the pause is over, or one that it catches up with. */
function afterPause(rule: OutlookRule, standing: JobStanding, endAt: EpochMs): Occasion | null {
  const { compiled, deadlineMs = 0 } = rule;
  if (isGoverned(compiled, standing)) {
    const next = governedOccasion(compiled, standing, () => scheduledAhead(compiled, standing, endAt), endAt);
    return next === null || next.dueAt >= endAt ? next : { ...next, dueAt: endAt };
  }
  const { liveAt } = planOnReturn(compiled, standing, endAt);
  const live = liveAt === null ? null : cronOccasion(decide(compiled, liveAt), endAt);
  const { chosenAt = null } = live ?? {};
  const isCaught = standing.catchesUp === true && chosenAt !== null && chosenAt < endAt;
  if (isCaught && !isPast(deadlineAt(chosenAt, deadlineMsOf(deadlineMs, live?.decision ?? null), null), endAt))
    return live;
  return scheduledAhead(compiled, standing, endAt);
}

/** A pause, or a hint, has ended since somebody looked: that is to be put on record. */
function isOver({ pausedUntilAt, hints }: JobStanding, now: EpochMs): boolean {
  const hintEndAt = nextHintEndAt(hints);
  return (pausedUntilAt !== null && now >= pausedUntilAt) || (hintEndAt !== null && now >= hintEndAt);
}

/** S51: its last instant has passed, and that is not on record yet. */
function isToStop({ stopAt = null }: OutlookRule, { pausedUntilAt }: JobStanding, now: EpochMs): boolean {
  return stopAt !== null && now >= stopAt && pausedUntilAt !== FOR_GOOD_AT;
}

/** What the schedule alone has next. */
interface Scheduled {
  readonly occasion: CronOccasion | null;
  readonly passed: CronOccasion | null;
  /** Periods were left out, or the clock is behind what was handled: that is to be put on record. */
  readonly mustTell: boolean;
}

function scheduled(rule: OutlookRule, standing: JobStanding, now: EpochMs): Outlook {
  const { occasion, passed, mustTell } = scheduledNext(rule, standing, now);
  return mustTell ? ACT : resting(rule, standing, occasion, passed, now);
}

function governed(rule: OutlookRule, standing: JobStanding, now: EpochMs): Outlook {
  const asked: Scheduled[] = [];
  const period = (): CronOccasion | null => {
    if (!hasPeriods(rule.compiled)) return null;
    const next = scheduledNext(rule, standing, now);
    asked.push(next);
    return next.occasion;
  };
  const { retry } = standing;
  // S43: that it is given up is put on record.
  if (retry !== undefined && !isRetryWanted(rule.compiled, standing, retry, now)) return ACT;
  const occasion = governedOccasion(rule.compiled, standing, period, now);
  if (asked.some(({ mustTell }) => mustTell)) {
    return ACT;
  }
  return resting(rule, standing, occasion, asked[0]?.passed ?? null, now);
}

function scheduledNext(rule: OutlookRule, standing: JobStanding, now: EpochMs): Scheduled {
  const { compiled, isSuspended } = rule;
  const { liveAt: firstAt, gap, isStateAhead } = planOnReturn(compiled, standing, now);
  const isHeld = isSuspended || isPaused(standing, now);
  // S17: what passes while nothing is evaluated is told when that ends, if at all.
  const mustTell = isStateAhead || (gap !== null && !isHeld);
  if (firstAt === null || mustTell) {
    return { occasion: null, passed: null, mustTell };
  }
  const first = cronOccasion(decide(compiled, firstAt));
  if (isHeld || now < first.dueAt || !isPassedOver(compiled, first, standing)) {
    return { occasion: first, passed: null, mustTell };
  }
  const nextAt = nextPeriod(compiled, firstAt);
  return { occasion: nextAt === null ? null : cronOccasion(decide(compiled, nextAt)), passed: first, mustTell };
}

/** The usual case takes no judgement: nothing of the window lies before the definition. */
function isPassedOver(compiled: CompiledRule, { slotAt, decision }: CronOccasion, standing: JobStanding): boolean {
  const { definedAt, evaluatesFromAt = null } = standing;
  const bornAt = Math.max(definedAt ?? Number.NEGATIVE_INFINITY, evaluatesFromAt ?? Number.NEGATIVE_INFINITY);
  if (openingAt(compiled, slotAt) >= bornAt) return false;
  return isBeforeDefinition(standing, decision) || isBeforeEvaluation(standing, decision);
}

function resting(
  { isSuspended }: OutlookRule,
  standing: JobStanding,
  occasion: Occasion | null,
  passed: CronOccasion | null,
  now: EpochMs,
): Outlook {
  const { pausedUntilAt, hints } = standing;
  if (occasion !== null && now >= occasion.dueAt && !isSuspended && !isPaused(standing, now)) {
    return ACT;
  }
  const dueAt = occasion === null || isSuspended ? null : Math.max(occasion.dueAt, pausedUntilAt ?? occasion.dueAt);
  return { kind: "rest", occasion, wakeAt: earliest(dueAt, nextHintEndAt(hints)), passed };
}

/** Of the schedule alone: the first unhandled period whose time is still to come. */
function scheduledAhead(compiled: CompiledRule, standing: JobStanding, now: EpochMs): CronOccasion | null {
  const { liveAt } = planOnReturn(compiled, standing, now);
  if (liveAt === null) return null;
  const live = cronOccasion(decide(compiled, liveAt));
  if (live.dueAt >= now) return live;
  const nextAt = nextPeriod(compiled, liveAt);
  return nextAt === null ? null : cronOccasion(decide(compiled, nextAt));
}

function earliest(one: EpochMs | null, other: EpochMs | null): EpochMs | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
