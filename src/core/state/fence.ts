/**
 * What becomes of a job whose store may have forgotten something (S32, C12): everything that was due up to an instant and is not
 * on record counts as handled, whatever it comes from. Nothing that may have run before is run again.
 */
import { decide } from "../decision/decide.js";
import { type CompiledRule, type Decision, hasPeriods } from "../decision/model.js";
import { governedOccasion } from "../period/governed.js";
import { type CronOccasion, cronOccasion, dueAt, hintedAtOf, type SlotOccasion } from "../period/occasion.js";
import { currentPeriod, gapBefore, isHandled } from "../period/periods.js";
import { isBeforeDefinition, isBeforeEvaluation } from "../period/policy.js";
import type { FenceReason } from "../period/reasons.js";
import { type EpochMs, knownInstant, wholeSecondsFrom } from "../time/instant.js";
import { fenceBoot } from "./boot.js";
import { lastHandledAt, type StateDocument, standingOf } from "./document.js";
import type { LedgerFact } from "./facts.js";
import { consumeOneshot } from "./hint-transitions.js";
import { closeSlot, dropRetry, fencePeriod, withSlotUsed } from "./period-transitions.js";
import { type Transition, unchanged } from "./transition.js";

export interface FenceRules {
  /** What was due up to it, this instant included. */
  readonly upToAt: EpochMs;
  readonly reason: FenceReason;
  /** S44: of the machine that would run what is due of its boot. */
  readonly bootId: string;
  readonly now: EpochMs;
  readonly historyLimit: number;
}

/** Sources that plan slots of a job: of each at most one is due. */
const MOST_SLOTS = 4;
/** Windows overlap where a clock change makes them, and then by one. */
const MOST_OVERLAPS = 3;

/** Idempotent: what is fenced is on record. */
export function fenceDocument(document: StateDocument, compiled: CompiledRule, rules: FenceRules): Transition {
  const steps = [fencedBoot, fencedPeriod, fencedRetry, fencedSlots];
  return steps.reduce<Transition>((before, step) => {
    const { document: after, facts } = step(before.document, compiled, rules);
    return { document: after, facts: [...before.facts, ...facts] };
  }, unchanged(document));
}

function fencedBoot(document: StateDocument, { isReboot }: CompiledRule, { bootId, now }: FenceRules): Transition {
  return (isReboot ? fenceBoot(document, bootId, now) : null) ?? unchanged(document);
}

function fencedPeriod(document: StateDocument, compiled: CompiledRule, rules: FenceRules): Transition {
  const { now, reason, historyLimit, upToAt } = rules;
  const decision = hasPeriods(compiled) ? newest(compiled, upToAt, reason) : null;
  if (decision === null || isHandled(lastHandledAt(document), decision.nominalAt)) return unchanged(document);
  if (reason === "state_recovered") return fencePeriod(document, decision, now, historyLimit, reason);
  const standing = standingOf(document);
  // S14, S17: it never ran and never will.
  if (isBeforeDefinition(standing, decision) || isBeforeEvaluation(standing, decision)) return unchanged(document);
  const fenced = fencePeriod(document, decision, now, historyLimit, reason);
  const gap = gapBefore(compiled, standing, decision.nominalAt);
  if (gap === null) return fenced;
  const told: LedgerFact = { kind: "periods_not_evaluated", identity: document.Identity, ...gap, reason, at: now };
  return { document: fenced.document, facts: [...fenced.facts, told] };
}

/**
 * Where the clock is trusted, the newest that was due; where nothing is, the one whose window is open. Those before it get no
 * outcome, as after any time in which nobody was there (S13).
 */
function newest(compiled: CompiledRule, upToAt: EpochMs, reason: FenceReason): Decision | null {
  let nominalAt = currentPeriod(compiled, upToAt);
  for (let looked = 0; nominalAt !== null && looked < MOST_OVERLAPS; looked++) {
    const decision = decide(compiled, nominalAt);
    if (reason === "state_recovered" || dueAt(decision) <= upToAt) return decision;
    nominalAt = compiled.schedule.previous(nominalAt - 1);
  }
  return null;
}

function fencedRetry(document: StateDocument, _compiled: CompiledRule, { upToAt, now }: FenceRules): Transition {
  const { Retry } = document;
  return Retry !== undefined && knownInstant(Retry.At) <= upToAt ? dropRetry(document, now) : unchanged(document);
}

/** Of an interval nobody knows how many: all of its slots up to then are used, and what follows counts from there. */
function fencedSlots(document: StateDocument, compiled: CompiledRule, rules: FenceRules): Transition {
  const facts: LedgerFact[] = [];
  let fenced = document;
  for (let looked = 0; looked < MOST_SLOTS; looked++) {
    const slot = dueSlot(fenced, compiled, rules.upToAt);
    if (slot === null) break;
    const closed = closedSlot(fenced, slot, rules);
    facts.push(...closed.facts);
    fenced = closed.document;
  }
  return { document: fenced, facts };
}

/** As it is planned by what is on record. */
function dueSlot(document: StateDocument, compiled: CompiledRule, upToAt: EpochMs): SlotOccasion | null {
  const standing = standingOf(document);
  const occasion = governedOccasion(compiled, standing, () => nextPeriodOf(document, compiled, upToAt), upToAt);
  return occasion === null || occasion.source === "cron" || occasion.chosenAt > upToAt ? null : occasion;
}

/** What is due of the schedule is fenced already. */
function nextPeriodOf(document: StateDocument, compiled: CompiledRule, upToAt: EpochMs): CronOccasion | null {
  if (!hasPeriods(compiled)) return null;
  const nextAt = compiled.schedule.next(Math.max(lastHandledAt(document) ?? upToAt, upToAt));
  return nextAt === null ? null : cronOccasion(decide(compiled, nextAt));
}

function closedSlot(document: StateDocument, slot: SlotOccasion, rules: FenceRules): Transition {
  const { now, upToAt, reason, historyLimit } = rules;
  const { source, slotAt, chosenAt } = slot;
  const left = source === "hint-oneshot" ? consumeOneshot(document, hintedAtOf(slot), null, now) : unchanged(document);
  const closed = closeSlot(left.document, slot, { outcome: "skipped", reason }, now, historyLimit);
  return {
    // What follows it keeps its place within the second: of all that was fenced not everything is due at once.
    document: withSlotUsed(closed.document, source, Math.max(slotAt, upToAt), wholeSecondsFrom(chosenAt, upToAt)),
    facts: [...left.facts, ...closed.facts],
  };
}
