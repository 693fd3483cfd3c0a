import { isOnce } from "../../core/cron/at.js";
import { decide } from "../../core/decision/decide.js";
import type { CompiledRule, Decision } from "../../core/decision/model.js";
import { pacedStarts } from "../../core/forecast/paced.js";
import type { EpochMs } from "../../core/time/instant.js";

/** The decisions of all periods whose nominal time is after `after`, in nominal order; ends where the calendar does. */
function* decisionsAfter(compiled: CompiledRule, after: EpochMs): Generator<Decision> {
  let nominalAt = compiled.schedule.next(after);
  while (nominalAt !== null) {
    yield decide(compiled, nominalAt);
    nominalAt = compiled.schedule.next(nominalAt);
  }
}

/** As `decisionsAfter`; of a job that runs once its only period, for as long as its chosen time is still to come. */
export function decisionsOf(compiled: CompiledRule, at: EpochMs): Generator<Decision> {
  return isOnce(compiled.rule.schedule) ? decisionsAhead(compiled, at) : decisionsAfter(compiled, at);
}

/**
 * The decisions that lie ahead at `at`: like `decisionsAfter`, but it begins with the current period (S10) when the
 * chosen time of that one is still to come.
 */
export function* decisionsAhead(compiled: CompiledRule, at: EpochMs): Generator<Decision> {
  const currentAt = compiled.schedule.previous(at + compiled.leadMs);
  if (currentAt === null) {
    yield* decisionsAfter(compiled, at);
    return;
  }
  const current = decide(compiled, currentAt);
  if (current.chosenAt !== null && current.chosenAt >= at) yield current;
  yield* decisionsAfter(compiled, currentAt);
}

/** What lies ahead of a job: a decision, or the slot of an interval. */
export interface Upcoming {
  readonly compiled: CompiledRule;
  readonly decision: Decision | null;
  /** When it takes its place in a merged list: an unschedulable decision at its nominal time. */
  readonly at: EpochMs;
}

/** `lastRunAt` is what an interval counts from: at the latest from `at`, as if the job ran now. */
export function* upcomingOf(
  compiled: CompiledRule,
  decisions: Iterable<Decision>,
  lastRunAt: EpochMs | null,
  at: EpochMs,
): Generator<Upcoming> {
  if (compiled.everyMs === null) {
    for (const decision of decisions) yield { compiled, decision, at: decision.chosenAt ?? decision.nominalAt };
    return;
  }
  for (const slot of pacedStarts(compiled, lastRunAt ?? at, at, () => undefined)) {
    yield { compiled, decision: null, at: slot.at };
  }
}

interface Queue {
  readonly rest: Generator<Upcoming>;
  head: Upcoming | null;
}

function advance(queue: Queue): void {
  const next = queue.rest.next();
  queue.head = next.done === true ? null : next.value;
}

/** What the next `count` are over all rules, soonest first; equal instants in the order of the rules. */
export function soonest(
  rules: readonly CompiledRule[],
  lastRunOf: (identity: string) => EpochMs | null,
  at: EpochMs,
  count: number,
): readonly Upcoming[] {
  const queues: Queue[] = rules.map((compiled) => {
    const lastRunAt = lastRunOf(compiled.rule.identity);
    return { rest: upcomingOf(compiled, decisionsAhead(compiled, at), lastRunAt, at), head: null };
  });
  for (const queue of queues) advance(queue);
  const found: Upcoming[] = [];
  while (found.length < count) {
    // A linear search: `count` is a screenful, and a heap would cost more than it saves.
    let best: Queue | null = null;
    for (const queue of queues) {
      if (queue.head === null) continue;
      if (best?.head == null || queue.head.at < best.head.at) best = queue;
    }
    if (best?.head == null) break;
    found.push(best.head);
    advance(best);
  }
  return found;
}
