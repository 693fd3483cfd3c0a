/**
 * What becomes of a job that was never seen before, where that is simple: its document, what the ledger says, and when it
 * is due. Answers as the machines would without taking a step of them: the first load of a large set is nothing else.
 */
import { decide } from "../decision/decide.js";
import type { CompiledRule } from "../decision/model.js";
import { nextPeriod, planOnReturn } from "../period/periods.js";
import { dueAt, isBeforeDefinition } from "../period/policy.js";
import { define } from "../state/definition-transitions.js";
import { newDocument, type StateDocument, standingOf } from "../state/document.js";
import type { LedgerFact } from "../state/facts.js";
import type { EpochMs } from "../time/instant.js";

export interface FirstSight {
  readonly document: StateDocument;
  readonly facts: readonly LedgerFact[];
  /** Nominal time of the live period; null when there is none. */
  readonly liveAt: EpochMs | null;
  /** When the clock next changes something. */
  readonly wakeAt: EpochMs | null;
}

export interface FirstSightRule {
  readonly compiled: CompiledRule;
  readonly definitionHash: string;
  readonly isSuspended: boolean;
}

/** null: something is due, or cannot be decided: that takes a step. */
export function firstSight(rule: FirstSightRule, now: EpochMs): FirstSight | null {
  try {
    return simpleFirstSight(rule, now);
  } catch {
    return null;
  }
}

function simpleFirstSight({ compiled, definitionHash, isSuspended }: FirstSightRule, now: EpochMs): FirstSight | null {
  const { identity } = compiled.rule;
  const { document, facts } = define(newDocument(identity), definitionHash, null, now);
  const standing = standingOf(document);
  const { liveAt: firstAt, gap } = planOnReturn(compiled, standing, now);
  if (gap !== null) return null;
  const first = firstAt === null ? null : decide(compiled, firstAt);
  const isWaiting = first === null || isSuspended || now < dueAt(first);
  if (isWaiting) return { document, facts, ...resting(compiled, firstAt, isSuspended) };
  if (!isBeforeDefinition(standing, first)) return null;
  // S14: adding a job never fires the past; the ledger says so, and the next period is waited for.
  const past: LedgerFact = { kind: "before_definition", identity, periodId: first.periodId, at: now };
  const nextAt = nextPeriod(compiled, first.nominalAt);
  const next = resting(compiled, nextAt, isSuspended);
  return next.wakeAt !== null && now >= next.wakeAt ? null : { document, facts: [...facts, past], ...next };
}

function resting(
  compiled: CompiledRule,
  liveAt: EpochMs | null,
  isSuspended: boolean,
): Pick<FirstSight, "liveAt" | "wakeAt"> {
  const wakeAt = liveAt === null || isSuspended ? null : dueAt(decide(compiled, liveAt));
  return { liveAt, wakeAt };
}
