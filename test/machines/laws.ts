/** What must never be, in any world: said as soon as it is. */
import { activeStates } from "../../src/core/state/document.js";
import { formatInstant } from "../../src/core/time/instant.js";
import { nowOf, type Process, periodsOf, type Setting, TICK_MS, type World, type Write } from "./world.js";

/** S13: no outcome, but said. A period may still get one, after a backward step of the clock. */
const NOT_EVALUATED = "not evaluated";

/** What is known of each period after the write. An outcome is never forgotten over a note that there was none. */
export function outcomesAfter({ bounds }: Setting, world: World, { facts }: Write): World["outcomes"] {
  const outcomes: Record<string, string> = { ...world.outcomes };
  for (const fact of facts) {
    if (fact.kind === "outcome") {
      outcomes[fact.periodId] = fact.outcome;
    }
    if (fact.kind === "periods_not_evaluated") {
      for (const nominalAt of periodsOf(bounds).filter((each) => fact.firstAt <= each && each <= fact.lastAt)) {
        outcomes[formatInstant(nominalAt)] ??= NOT_EVALUATED;
      }
    }
  }
  return outcomes;
}

/** S24: what was tried and could not be started was evaluated, and is tried no more once it is handled. */
function triedViolation(before: World, after: World, { facts }: Write): string | null {
  const { StartFailure: left } = after.disk;
  if (left?.Source === "cron" && left.Slot <= after.disk.LastHandledPeriodID) {
    return `${left.Slot} is handled, and on record as one that is being tried`;
  }
  const { StartFailure: tried } = before.disk;
  if (tried?.Source !== "cron") return null;
  const triedAt = Date.parse(tried.Slot);
  for (const fact of facts) {
    if (fact.kind === "periods_not_evaluated" && fact.firstAt <= triedAt && triedAt <= fact.lastAt) {
      return `${tried.Slot} was tried, and is told as one that nobody looked at`;
    }
    if (fact.kind !== "outcome" || fact.periodId !== tried.Slot || fact.outcome !== "missed") continue;
    if (fact.reason !== `not_started:${tried.Code}` && fact.reason !== "late_start") {
      return `${tried.Slot} could not be started for ${tried.Code}, and was missed for ${fact.reason}`;
    }
  }
  return null;
}

export function commitViolation(setting: Setting, before: World, after: World, write: Write): string | null {
  const { bounds } = setting;
  const { facts } = write;
  for (const fact of facts) {
    if (fact.kind === "outcome" && (before.outcomes[fact.periodId] ?? NOT_EVALUATED) !== NOT_EVALUATED) {
      return `second outcome of ${fact.periodId}`;
    }
  }
  const last = after.disk.LastHandledPeriodID;
  if (last < before.disk.LastHandledPeriodID) {
    return "LastHandledPeriodID went back";
  }
  const silent = periodsOf(bounds)
    .map(formatInstant)
    .find((period) => period <= last && !(period in after.outcomes));
  return silent === undefined ? triedViolation(before, after, write) : `${silent} was passed over in silence`;
}

/** S40: a manual run at the instant of a period is not that period. */
export function nameOf({ source, periodId, retry, boot }: Process): string {
  if (boot !== undefined) return `the run at boot ${boot}`;
  if (retry !== undefined) return `attempt ${retry.attempt} of ${retry.periodId}`;
  return source === null ? periodId : `${source} ${periodId}`;
}

export function beginViolation({ scope, bounds }: Setting, world: World, process: Process): string | null {
  if ((world.begun[nameOf(process)] ?? 0) > 1) {
    return `${nameOf(process)} began twice`;
  }
  if (isRetriedTooLate(bounds, world, process)) {
    return `${nameOf(process)} began when the next period was due`;
  }
  if (isBeyondHints(bounds, process)) {
    return `${nameOf(process)} began for a hint that was over`;
  }
  const { afterRuns = null } = scope.policy.stop ?? {};
  const own = Object.keys(world.begun).filter((name) => !name.startsWith("manual "));
  if (afterRuns !== null && own.length > afterRuns) {
    return `${nameOf(process)} began after ${afterRuns} runs`;
  }
  if ((scope.policy.stop?.at ?? Number.POSITIVE_INFINITY) + TICK_MS < Math.min(nowOf(world), process.latestAt)) {
    return `${nameOf(process)} began when the job had ended`;
  }
  // A manual run is not judged by the policy, so it may come between the claim of a period and its begin.
  const isBeside = world.processes.some(({ phase, source }) => phase === "running" && source === null);
  return isBeside && process.source === null && scope.policy.concurrency !== "allow"
    ? `${process.periodId} began beside another run`
    : null;
}

/** S43: an attempt is one of its period until the next is due; a process that was released may read its GO a little later. */
function isRetriedTooLate(bounds: Setting["bounds"], world: World, { retry, latestAt }: Process): boolean {
  const nextAt = periodsOf(bounds).find(
    (nominalAt) => retry !== undefined && formatInstant(nominalAt) > retry.periodId,
  );
  return retry !== undefined && nextAt !== undefined && Math.min(nowOf(world), latestAt) >= nextAt;
}

/** S41: what a hint would do at its end or later it does not do. */
function isBeyondHints({ hints = [] }: Setting["bounds"], { source, periodId }: Process): boolean {
  const kinds = hints.filter(({ kind }) => source === `hint-${kind}`);
  return source?.startsWith("hint-") === true && kinds.every(({ expiresAt }) => formatInstant(expiresAt) <= periodId);
}

/** Every process that runs is on record, so that a restart knows of it and nothing starts beside it unknowingly. */
export function checked(world: World): World {
  const known = activeStates(world.disk);
  const isKnown = ({ attemptId, pid }: Process): boolean =>
    known.some((active) => active.PID === pid && active.AttemptID === attemptId);
  const stranger = world.processes.find((process) => process.phase === "running" && !isKnown(process));
  return stranger === undefined
    ? world
    : { ...world, violation: world.violation ?? `${nameOf(stranger)} runs unrecorded` };
}
