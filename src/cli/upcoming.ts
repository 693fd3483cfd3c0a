import { decide } from "../core/decision/decide.js";
import type { CompiledRule, Decision } from "../core/decision/model.js";
import type { EpochMs } from "../core/time/instant.js";

/** The decisions of all periods whose nominal time is after `after`, in nominal order; ends where the calendar does. */
export function* decisionsAfter(compiled: CompiledRule, after: EpochMs): Generator<Decision> {
  let nominalAt = compiled.schedule.next(after);
  while (nominalAt !== null) {
    yield decide(compiled, nominalAt);
    nominalAt = compiled.schedule.next(nominalAt);
  }
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

interface Queue {
  readonly compiled: CompiledRule;
  readonly rest: Generator<Decision>;
  head: Decision | null;
}

/** When a decision takes its place in a merged list: an unschedulable one at its nominal time. */
function placeOf(decision: Decision): EpochMs {
  return decision.chosenAt ?? decision.nominalAt;
}

function advance(queue: Queue): void {
  const next = queue.rest.next();
  queue.head = next.done === true ? null : next.value;
}

/** The next `count` decisions over all rules, soonest first; equal instants in the order of the rules. */
export function soonest(
  rules: readonly CompiledRule[],
  at: EpochMs,
  count: number,
): { readonly compiled: CompiledRule; readonly decision: Decision }[] {
  const queues: Queue[] = rules.map((compiled) => ({ compiled, rest: decisionsAhead(compiled, at), head: null }));
  for (const queue of queues) advance(queue);
  const found: { compiled: CompiledRule; decision: Decision }[] = [];
  while (found.length < count) {
    // A linear search: `count` is a screenful, and a heap would cost more than it saves.
    let best: Queue | null = null;
    for (const queue of queues) {
      if (queue.head === null) continue;
      if (best?.head == null || placeOf(queue.head) < placeOf(best.head)) best = queue;
    }
    if (best?.head == null) break;
    found.push({ compiled: best.compiled, decision: best.head });
    advance(best);
  }
  return found;
}
