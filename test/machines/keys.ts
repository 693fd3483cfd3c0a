/** When two worlds, or two activations, are the same for everything that can happen next. */
import { activeStates, type StateDocument } from "../../src/core/state/document.js";
import type { LedgerFact } from "../../src/core/state/facts.js";
import type { Activation } from "../../src/machines/activation.js";
import type { Daemon, World } from "./world.js";

const documents = new WeakMap<StateDocument, string>();
const numbers = new WeakMap<Activation, number>();

/**
 * Gives the first activation that was seen to behave like this one. One for each exploration: snapshots remember their
 * charts, and the charts of a control are others.
 */
export function interner(): (activation: Activation) => Activation {
  const activations = new Map<string, Activation>();
  return (activation) => {
    const key = JSON.stringify(activationKey(activation));
    const known = activations.get(key);
    if (known === undefined) {
      numbers.set(activation, activations.size);
      activations.set(key, activation);
    }
    return known ?? activation;
  };
}

/** Everything that a later step may read. Times of writing are left out: no rule reads them. */
export function keyOf(world: World): string {
  const { tick, daemon, disk, begun, outcomes, gateLosses, manualRuns, hintsSet, reboots } = world;
  const processes = world.processes
    .map((process) =>
      [
        process.attemptId,
        process.retry?.attempt,
        process.retry?.periodId,
        process.source,
        process.boot,
        process.periodId,
        process.pid,
        process.phase,
        process.latestAt,
      ].join(),
    )
    .sort();
  return JSON.stringify([
    tick,
    documentKey(disk),
    processes,
    pairs(begun),
    pairs(outcomes),
    gateLosses,
    manualRuns,
    hintsSet,
    reboots,
    daemonKey(daemon),
  ]);
}

function daemonKey(daemon: Daemon | null): unknown {
  return (
    daemon && [
      numbers.get(daemon.activation),
      daemon.writes.map((write) => [documentKey(write.document), write.facts.map(factKey), write.claimedBy]),
      daemon.durable,
      daemon.goes,
      daemon.terminations,
    ]
  );
}

/** What a fact says of periods; the document beside it says the rest. */
function factKey(fact: LedgerFact): string {
  return fact.kind === "periods_not_evaluated" ? [fact.kind, fact.firstAt, fact.lastAt].join() : fact.kind;
}

function pairs(record: Readonly<Record<string, unknown>>): string {
  return Object.entries(record).sort().join();
}

function documentKey(document: StateDocument): string {
  const known = documents.get(document);
  if (known !== undefined) {
    return known;
  }
  const active = activeStates(document).map(({ PeriodID, PID, AttemptID, Source, Confirmed, Attempt }) => [
    ...[PeriodID, PID, AttemptID, Source, Confirmed, Attempt],
  ]);
  const { LastHandledPeriodID, LastOutcome, LastSlot, Hints, EvaluatesFrom } = document;
  // Who has none of these goes by its schedule alone, for which it does not matter when it ran.
  const isPaced = Hints !== undefined || EvaluatesFrom !== undefined || LastSlot?.["interval"] !== undefined;
  const pace = isPaced ? [Hints, EvaluatesFrom, document.LastRunAt] : [];
  const { Pause, Tally } = document;
  const stopped = [Pause?.Until, Pause?.By, Tally];
  const rest = [document.Retry, document.Boot, stopped];
  const key = JSON.stringify([LastHandledPeriodID, LastOutcome, LastSlot, active, pace, ...rest]);
  documents.set(document, key);
  return key;
}

function activationKey({ job, period, attempts, passedAt, mustReturn, notedGapAt }: Activation): unknown {
  return [
    documentKey(job.context.document),
    period && [
      period.value,
      period.context.occasion.source,
      period.context.occasion.slotAt,
      period.context.occasion.dueAt,
      period.context.heldUntilAt,
      period.context.failures,
      period.context.retryAt,
      startByOf(period.context.verdict),
    ],
    attempts.map(({ execution, period: claimed }) => [
      execution.value,
      execution.context.attempt.attemptId,
      execution.context.attempt.source,
      execution.context.attempt.periodId,
      execution.context.attempt.retry?.attempt,
      execution.context.startByAt,
      execution.context.holder?.pid,
      execution.context.endReason,
      execution.context.ending === null,
      claimed?.value,
    ]),
    passedAt,
    mustReturn,
    notedGapAt,
  ];
}

function startByOf(verdict: object | null): unknown {
  return verdict !== null && "startByAt" in verdict ? verdict.startByAt : null;
}
