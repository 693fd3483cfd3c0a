/**
 * A claim that was worked out before its second. Steps are pure, so what the machines will say when the period is due can
 * be computed as soon as its gate is ready; what is left for the second itself is one commit and GO. Nothing of it is on
 * record or in force until then, and whatever is heard of the job in between makes it void.
 */
import type { RecordVersions } from "../../../core/decision/record.js";
import type { StateDocument } from "../../../core/state/document.js";
import type { Holder } from "../../../core/state/ending.js";
import { type EpochMs, floorToSecond, SECOND_MS, wholeSecondsFrom } from "../../../core/time/instant.js";
import { type Activation, activate, type JobScope } from "../../../machines/activation.js";
import type { GateAhead, Moment } from "../../../machines/draft.js";
import type { EffectParams } from "../../../machines/effects.js";
import { type ActivationEvent, type Step, step } from "../../../machines/step.js";
import { claimIn, contributionOf, type StepContribution } from "../write/contribution.js";

/** A step that was taken on paper: nobody was told of it yet. */
interface PaperStep {
  readonly event: ActivationEvent;
  readonly before: Activation;
  readonly step: Step;
}

export interface Rehearsal {
  /** When it is due: wherever in the rest of that second the claim is taken, the same is judged and written (S1, S20). */
  readonly forAt: EpochMs;
  readonly attemptId: string;
  /** From rest to the claim. */
  readonly steps: readonly [woken: PaperStep, claimed: PaperStep];
  /** What the claim writes. */
  readonly contribution: StepContribution;
}

/** A job at rest. */
interface Rest {
  readonly scope: JobScope;
  readonly document: StateDocument;
  /** The live period; null: it waits for something else. */
  readonly nominalAt: EpochMs | null;
  /** When what it waits for is due. */
  readonly forAt: EpochMs;
}

/** With a gate that waits for its live period, or for its next slot. */
export interface Stage extends Rest {
  readonly gate: GateAhead;
  readonly holder: Holder;
}

/** What a job will want to start at this instant if nothing is heard of it until then; null: nothing, or more than that. */
export function armedAt({ scope, document, nominalAt, forAt }: Rest): EffectParams["arm"] | null {
  const moment = { now: forAt, gate: null, freshId: () => "" };
  const woken = taken(scope, activate(document, scope), { type: "WAKE", isReturning: false, nominalAt }, moment);
  const [arm, ...others] = woken.step.effects;
  return arm?.type === "arm" && others.length === 0 ? arm.params : null;
}

/** null: it will be more than a plain claim, and is left to its second. */
export function rehearse(stage: Stage, versions: RecordVersions): Rehearsal | null {
  const { scope, document, nominalAt, forAt, gate, holder } = stage;
  const { attemptId } = gate;
  // Whatever is started besides will not be this attempt.
  const moment = { now: forAt, gate, freshId: () => "" };
  const rest = activate(document, scope);
  const woken = taken(scope, rest, { type: "WAKE", isReturning: false, nominalAt }, moment);
  const [arm, ...others] = woken.step.effects;
  if (arm?.type !== "arm" || arm.params.attemptId !== attemptId || others.length > 0) return null;
  const claimed = taken(scope, woken.step.activation, { type: "READY", attemptId, holder }, moment);
  if (claimIn(claimed.step) !== attemptId || claimed.step.effects.length > 1) return null;
  if (!isOneStart(arm.params.chosenAt, forAt)) return null;
  const contribution = contributionOf(claimed.step, { compiled: scope.compiled, versions, before: document });
  return contribution === null ? null : { forAt, attemptId, steps: [woken, claimed], contribution };
}

/** Whether it counts as begun at the same instant until that second is over. */
function isOneStart(chosenAt: EpochMs, forAt: EpochMs): boolean {
  const lastAt = floorToSecond(forAt) + SECOND_MS - 1;
  return wholeSecondsFrom(chosenAt, lastAt) === wholeSecondsFrom(chosenAt, forAt);
}

export function isOnTime({ forAt }: Rehearsal, now: EpochMs): boolean {
  return now >= forAt && floorToSecond(now) === floorToSecond(forAt);
}

function taken(scope: JobScope, before: Activation, event: ActivationEvent, moment: Moment): PaperStep {
  return { event, before, step: step(scope, before, event, moment) };
}
