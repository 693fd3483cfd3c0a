/**
 * Retries (S43), judged after the fact: each follows an attempt of its period that ended badly, long enough after it, not
 * more often than a definition allows, and before the next period was due. It knows nothing of how they are planned.
 */
import { compileRule } from "../core/decision/compile.js";
import { decide } from "../core/decision/decide.js";
import type { JobDefinition, RetryRule } from "../core/job/definition.js";
import { type EpochMs, SECOND_MS } from "../core/time/instant.js";
import type { Circumstances, JobHistory } from "./job-history.js";
import { instantOf } from "./records.js";

/** Ends and starts are on record to the second. */
const ROUNDING_MS = 2 * SECOND_MS;

export function* judgeRetries(job: JobHistory, around: Circumstances): Iterable<string> {
  const counts = new Map<string, number>();
  const definitions = job.versions.flatMap(({ definition }) => definition ?? []);
  for (const { source, retryOf = null, startedAt } of job.slotStarts) {
    if (source !== "retry") continue;
    const periodId = retryOf ?? "unknown";
    const name = `${job.identity}@${periodId}`;
    const attempt = (counts.get(periodId) ?? 0) + 1;
    counts.set(periodId, attempt);
    const failedAt = job.failures.get(periodId)?.[attempt - 1];
    if (failedAt === undefined) {
      yield `${name} was retried, and no attempt of it had failed`;
      continue;
    }
    const isClockMoved = around.repeats.length > 0 || around.absences.length > 0;
    const isAllowed = definitions.some((definition) => {
      const { retry } = definition.policy;
      if (retry === undefined || attempt > retry.limit) return false;
      return isClockMoved || isInTime(definition, retry, { periodId, attempt, failedAt, startedAt });
    });
    if (!isAllowed) yield `${name} was retried (${attempt}) when no definition allows it`;
  }
}

interface Retried {
  readonly periodId: string;
  readonly attempt: number;
  readonly failedAt: EpochMs;
  readonly startedAt: EpochMs;
}

function isInTime(definition: JobDefinition, { backoffMs, maxBackoffMs }: RetryRule, retried: Retried): boolean {
  const { periodId, attempt, failedAt, startedAt } = retried;
  let waitMs = backoffMs;
  for (let doubled = 1; doubled < attempt; doubled++) waitMs = Math.min(waitMs * 2, maxBackoffMs);
  if (startedAt < failedAt + waitMs - ROUNDING_MS) return false;
  const compiled = compileRule(definition);
  const nextAt = compiled.schedule.next(instantOf(periodId));
  if (nextAt === null) return true;
  const { chosenAt, windowStartAt } = decide(compiled, nextAt);
  return startedAt < (chosenAt ?? windowStartAt);
}
