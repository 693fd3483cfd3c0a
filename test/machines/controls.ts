/**
 * Protocols with one rule taken out, built from the production parts around it. The model check has to find out each of
 * them: a check that cannot fail shows nothing.
 */
import { assign } from "xstate";
import { currentPeriod, planAfter, planOnReturn } from "../../src/core/period/periods.js";
import { claimVerdict, type JobStanding, verdict } from "../../src/core/period/policy.js";
import type { StateDocument } from "../../src/core/state/document.js";
import type { Activation } from "../../src/machines/activation.js";
import type { OutwardEffect } from "../../src/machines/effects.js";
import { ENGINE, type Engine } from "../../src/machines/engine.js";
import { jobMachine } from "../../src/machines/job.machine.js";
import { type JobContext, type JobEvent, recorded } from "../../src/machines/job-logic.js";
import { createStepper, type Stepper, step } from "../../src/machines/step.js";

/** Snapshots remember the chart they belong to, so a changed chart must be there from the activation on. */
export interface Protocol {
  readonly engine: Engine;
  readonly step: Stepper;
}

export const PRODUCTION: Protocol = { engine: ENGINE, step };

function protocolOf(engine: Engine): Protocol {
  return { engine, step: createStepper(engine) };
}

type Recorder = (context: JobContext, event: JobEvent) => Partial<JobContext>;

const withRecorder = (recorder: Recorder) =>
  jobMachine.provide({ actions: { record: assign(({ context, event }) => recorder(context, event)) } });

const unhandled = (document: StateDocument): StateDocument => ({
  ...document,
  LastHandledPeriodID: "",
  LastOutcome: "",
});

/** S12 with `==` for `<=`, as STATE's text has it: only the last handled period itself counts as handled. */
export const EQUALITY_ONLY: Protocol = protocolOf({
  ...ENGINE,
  job: withRecorder((context, event) => {
    const isOld = event.type === "CLAIM" || event.type === "CLOSE";
    return recorded(isOld ? { ...context, document: unhandled(context.document) } : context, event);
  }),
  verdict: (standing, occasion, ...rest) => verdict(seenByEquality(standing, occasion.slotAt), occasion, ...rest),
  claimVerdict: (standing, occasion, ...rest) =>
    claimVerdict(seenByEquality(standing, occasion.slotAt), occasion, ...rest),
  planOnReturn: (compiled, marks, now) => {
    const currentAt = currentPeriod(compiled, now);
    return planOnReturn(
      compiled,
      { ...marks, lastHandledAt: marks.lastHandledAt === currentAt ? currentAt : null },
      now,
    );
  },
  planAfter: (compiled, marks, passedAt) => planAfter(compiled, { ...marks, lastHandledAt: null }, passedAt),
});

function seenByEquality(standing: JobStanding, nominalAt: number): JobStanding {
  return { ...standing, lastHandledAt: standing.lastHandledAt === nominalAt ? nominalAt : null };
}

/** S22 taken out: the claim records what runs, but the period is not handled by it, nor by the end of its run (S12). */
export const HANDLED_NEVER: Protocol = protocolOf({
  ...ENGINE,
  job: withRecorder((context, event) => {
    const next = recorded(context, event);
    const isHandling = event.type === "CLAIM" || event.type === "RUN_ENDED";
    return isHandling ? { ...next, ...withHandledOf(context, next) } : next;
  }),
});

/** S22 read the other way: the period is handled when its run has ended, and not before. */
export const HANDLED_AT_END: Protocol = protocolOf({
  ...ENGINE,
  job: withRecorder((context, event) => {
    const next = recorded(context, event);
    if (event.type === "CLAIM") {
      return { ...next, ...withHandledOf(context, next) };
    }
    if (event.type !== "RUN_ENDED" || next.document === context.document) {
      return next;
    }
    const document = { ...(next.document ?? context.document), LastHandledPeriodID: event.run.periodId };
    return { ...next, document: { ...document, LastOutcome: "executed" as const } };
  }),
});

function withHandledOf({ document: before }: JobContext, next: Partial<JobContext>): Pick<JobContext, "document"> {
  const { LastHandledPeriodID, LastOutcome } = before;
  return { document: { ...(next.document ?? before), LastHandledPeriodID, LastOutcome } };
}

/** S22's other half taken out: a completion clears whatever runs, not only its own entry. */
export const CLEARS_ANY: Protocol = protocolOf({
  ...ENGINE,
  job: withRecorder((context, event) => {
    const next = recorded(context, event);
    if (event.type !== "RUN_ENDED") {
      return next;
    }
    const { OtherActive: _, ...document } = next.document ?? context.document;
    return { ...next, document: { ...document, ActiveExecution: null } };
  }),
});

/** S23 turned round: GO first, then the claim. */
export const GO_FIRST: Protocol = {
  engine: ENGINE,
  step: (scope, activation, event, moment) => {
    const taken = step(scope, activation, event, moment);
    return { ...taken, effects: taken.effects.flatMap((effect) => goFirst(taken.activation, effect)) };
  },
};

function goFirst({ attempts }: Activation, effect: OutwardEffect): readonly OutwardEffect[] {
  const claimed = effect.type === "persist" ? effect.params.claimedBy : null;
  const execution = attempts.find(({ execution: { context } }) => context.attempt.attemptId === claimed)?.execution;
  if (execution !== undefined && claimed !== null) {
    return [{ type: "go", params: { attemptId: claimed, latestAt: execution.context.startByAt } }, effect];
  }
  return effect.type === "go" ? [] : [effect];
}

/** S21 taken out: judged when the period became due, and not again before the claim. */
export const CLAIMS_UNJUDGED: Protocol = protocolOf({
  ...ENGINE,
  claimVerdict: (_standing, _decision, _policy, _active, _now, startByAt) => ({ kind: "start", startByAt }),
});

/** S13 taken out: what was not evaluated is not said. */
export const SILENT_GAPS: Protocol = protocolOf({
  ...ENGINE,
  planOnReturn: (...args) => ({ ...planOnReturn(...args), gap: null }),
});

/** R14 taken out: a request whose answer nobody saw counts as one that was never sent. */
export const UNSEEN_REOPENS: Protocol = protocolOf({
  ...ENGINE,
  job: withRecorder((context, event) => {
    const next = recorded(context, event);
    const isUnseen = event.type === "RUN_ENDED" && event.ending.kind === "unseen";
    return isUnseen ? { ...next, document: unhandled(next.document ?? context.document) } : next;
  }),
});

/** S42 taken out: the run of a one-shot hint leaves the hint, and its slot, as they were. */
export const ONESHOT_KEPT: Protocol = protocolOf({
  ...ENGINE,
  job: withRecorder((context, event) => {
    const next = recorded(context, event);
    const { document } = context;
    if (event.type !== "CLAIM_SLOT" || event.source !== "hint-oneshot" || document.Hints === undefined) {
      return next;
    }
    const { LastSlot: _, ...rest } = next.document ?? document;
    return { ...next, document: { ...rest, Hints: document.Hints } };
  }),
});

const HINT_LATE_MS = 3_600_000;

/** S41 taken out: a hint goes on when its TTL has passed. */
export const HINT_SURVIVES: Protocol = {
  engine: ENGINE,
  step: (scope, activation, event, moment) => {
    if (event.type !== "HINT") {
      return step(scope, activation, event, moment);
    }
    const hint = { ...event.hint, expiresAt: event.hint.expiresAt + HINT_LATE_MS };
    return step(scope, activation, { ...event, hint }, moment);
  },
};
