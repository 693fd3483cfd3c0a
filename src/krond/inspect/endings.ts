/**
 * How attempts and periods ended that an activation does not hold any more. What is over is dropped at once, but the
 * charts are pure: telling the last snapshot the last event again gives the snapshot that was dropped.
 */
import type { Outcome } from "../../core/state/document.js";
import type { LedgerFact } from "../../core/state/facts.js";
import type { EpochMs } from "../../core/time/instant.js";
import { advance } from "../../machines/advance.js";
import type { OutwardEffect } from "../../machines/effects.js";
import { type ExecutionSnapshot, executionMachine } from "../../machines/execution.machine.js";
import type { ExecutionEvent } from "../../machines/execution-logic.js";
import { type PeriodSnapshot, periodMachine } from "../../machines/period.machine.js";
import type { ActivationEvent } from "../../machines/step.js";
import { instantText, type PublicSnapshot, snapshotOf } from "./frames.js";
import { executionSnapshot, periodSnapshot } from "./public-view.js";

export type OutcomeFact = Extract<LedgerFact, { readonly kind: "outcome" }>;

/** By period: what became of it in this step. */
export function outcomesIn(effects: readonly OutwardEffect[]): ReadonlyMap<string, OutcomeFact> {
  const facts = effects.flatMap((effect) => (effect.type === "persist" ? effect.params.facts : []));
  const outcomes = facts.filter((fact): fact is OutcomeFact => fact.kind === "outcome");
  return new Map(outcomes.map((fact) => [fact.periodId, fact]));
}

/** An attempt that left ended by what it was told, or because its gate was closed: by itself, or upon what it was told. */
export function endOfAttempt(execution: ExecutionSnapshot, event: ActivationEvent, now: EpochMs): ExecutionSnapshot {
  const told = toldTo(execution, event, now);
  const close: ExecutionEvent = { type: "CLOSE" };
  const endings = [told, [...told, close], [close]].map((events) => {
    return events.reduce((snapshot, each) => advance(executionMachine, snapshot, each).snapshot, execution);
  });
  return endings.find((snapshot) => snapshot.matches("ended")) ?? execution;
}

export function endedExecution(execution: ExecutionSnapshot): PublicSnapshot {
  return { ...executionSnapshot(execution), status: execution.matches("ended") ? "done" : "stopped" };
}

/** The period of an attempt that left: it was claimed, so it is completed as the attempt was. */
export function endOfClaimed(period: PeriodSnapshot, end: ExecutionSnapshot): PublicSnapshot {
  const { ending } = end.context;
  const claimed = period.matches("terminal") ? period : advance(periodMachine, period, { type: "CLAIMED" }).snapshot;
  if (ending === null) return { ...periodSnapshot(claimed), status: "stopped" };
  return periodSnapshot(advance(periodMachine, claimed, { type: "COMPLETED", ending }).snapshot);
}

/** The live period that left without being claimed: it got its outcome, or was given up without one. */
export function endOfLive(period: PeriodSnapshot, outcome: OutcomeFact | undefined): PublicSnapshot {
  const last = periodSnapshot(period);
  if (outcome === undefined) return { ...last, status: "stopped" };
  return snapshotOf("done", { terminal: closedValue(outcome.outcome) }, { ...last.context, reason: outcome.reason });
}

/** One that was planned, judged and closed within a single step. */
export function briefLife(fact: OutcomeFact): readonly [first: PublicSnapshot, last: PublicSnapshot] {
  const { identity, periodId, nominalAt, chosenAt, outcome, reason } = fact;
  const decision = { identity, periodId, nominalAt: instantText(nominalAt), chosenAt: instantText(chosenAt) };
  return [
    snapshotOf("active", "planned", { decision }),
    snapshotOf("done", { terminal: closedValue(outcome) }, { decision, reason }),
  ];
}

function closedValue(outcome: Outcome): unknown {
  return outcome === "executed" ? { executed: "running" } : outcome;
}

function toldTo(execution: ExecutionSnapshot, event: ActivationEvent, now: EpochMs): readonly ExecutionEvent[] {
  if (event.type === "WAKE") return [{ type: "TICK", now }];
  if (!("attemptId" in event) || event.attemptId !== execution.context.attempt.attemptId) return [];
  const { attemptId: _, ...told } = event;
  return [told.type === "DURABLE" ? { ...told, now } : told];
}
