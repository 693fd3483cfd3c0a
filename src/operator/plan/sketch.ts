/**
 * One look at a KronJob while it is being thought through: what is known, the activation of its machines, and what is to be
 * done. Events are told to the machines here, and what they want is kept. It lives for one `reconcile` and is seen by
 * nothing else.
 */

import type { Policy } from "../../core/job/definition.js";
import { activeStates, type StateDocument } from "../../core/state/document.js";
import type { LedgerFact } from "../../core/state/facts.js";
import { type EpochMs, formatInstant, parseInstant, SECOND_MS } from "../../core/time/instant.js";
import { type Activation, activate, documentOfActivation, type JobScope } from "../../machines/activation.js";
import type { Moment } from "../../machines/draft.js";
import type { OutwardEffect } from "../../machines/effects.js";
import { type ActivationEvent, step } from "../../machines/step.js";
import type { KronDefinition } from "../definition.js";
import { jobNameOf } from "../identity.js";
import type { JobView } from "../job-view.js";
import type { ActiveJob, KronJob, KronJobStatus } from "../kube/types.js";
import { OPERATOR_TIMES } from "../limits.js";
import { isOnRecord } from "../status.js";
import type { Effect, Observed } from "./effects.js";
import type { Memory } from "./memory.js";
import type { News } from "./news.js";

export class Sketch {
  readonly observed: Observed;
  readonly now: EpochMs;
  readonly before: KronJobStatus;
  status: KronJobStatus;
  memory: Memory;
  /** S16: nothing is begun: the definition is not known yet, or may not be followed. */
  isUntold = false;
  /** Nothing was under way, or what was is not true any more. */
  isFresh = true;
  /** What the machines want on record, in order. */
  readonly facts: LedgerFact[] = [];
  /** Before the status is written. */
  readonly first: Effect[] = [];
  /** What has to be known or made before anything else can be said; after the status, if that has news. */
  readonly asks: Effect[] = [];
  /** After all that. */
  readonly last: Effect[] = [];
  /** Told once the status is written. */
  readonly news: News[] = [];
  /** Told in any case. */
  readonly loose: News[] = [];
  lookAgainAt: EpochMs | null = null;
  /** S13: of the last step. */
  successorDueAt: EpochMs | null = null;
  #known: { readonly scope: JobScope; readonly activation: Activation } | null = null;

  constructor(observed: Observed, memory: Memory, now: EpochMs) {
    this.observed = observed;
    this.memory = memory;
    this.now = now;
    this.before = observed.kronJob.status ?? {};
    this.status = this.before;
  }

  get kronJob(): KronJob {
    return this.observed.kronJob;
  }

  get uid(): string {
    return this.observed.kronJob.metadata.uid;
  }

  get generation(): number {
    return this.kronJob.metadata.generation ?? 0;
  }

  get isNewGeneration(): boolean {
    return this.before.observedGeneration !== this.generation;
  }

  get activation(): Activation {
    return this.#live.activation;
  }

  get isLive(): boolean {
    return this.#known !== null;
  }

  get #live(): { readonly scope: JobScope; readonly activation: Activation } {
    if (this.#known === null) throw new Error("invariant broken: nothing is live");
    return this.#known;
  }

  get policy(): Policy {
    return this.#live.scope.policy;
  }

  get document(): StateDocument {
    return documentOfActivation(this.activation);
  }

  /** What was under way goes on if what it rests upon is still on record; whatever else happened, it begins anew. */
  begin(document: StateDocument, { compiled, policy }: Pick<KronDefinition, "compiled" | "policy">): void {
    const scope = {
      compiled,
      policy,
      timeoutMs: null,
      startGraceMs: OPERATOR_TIMES.startGraceMs,
      killGraceMs: podGraceMs(this.kronJob) + OPERATOR_TIMES.clearingMs,
      // The status keeps a history of its own.
      historyLimit: 0,
    };
    const known = this.memory.activation;
    const isTrue = known !== null && isOnRecord(this.before, documentOfActivation(known)) && !hasGivenUp(known);
    this.isFresh = !isTrue;
    this.#known = { scope, activation: isTrue ? known : this.#activated(document, scope) };
  }

  #activated(document: StateDocument, scope: JobScope): Activation {
    const noted = parseInstant(this.before.notEvaluated?.lastPeriodID ?? "");
    return { ...activate(document, scope), notedGapAt: noted.ok ? noted.value : null };
  }

  tell(event: ActivationEvent, now = this.now): void {
    const { scope, activation } = this.#live;
    const { lost } = this.observed;
    const freshId: Moment["freshId"] = ({ source, periodId }) => jobNameOf(this.kronJob, source, periodId);
    const moment = { now, gate: null, lost, isUntold: this.isUntold, freshId };
    const taken = step(scope, activation, event, moment);
    this.#known = { scope, activation: taken.activation };
    this.successorDueAt = taken.successorDueAt;
    for (const effect of taken.effects) this.#take(effect);
  }

  /** Gates are made, released and swept by what the attempts and the Jobs say, whoever did the step before. */
  #take({ type, params }: OutwardEffect): void {
    switch (type) {
      case "persist":
        this.facts.push(...params.facts);
        return;
      case "terminate": {
        const untilAt = this.now + params.graceMs;
        this.remember({ clearing: { ...this.memory.clearing, [params.attemptId]: untilAt } });
        return;
      }
      case "undecided": {
        const { nominalAt, message } = params;
        this.remember({ hindrance: { code: "decision-failed", message, isAhead: false }, hasRecovered: false });
        this.loose.push({ kind: "undecided", periodId: formatInstant(nominalAt), message });
        return;
      }
      case "stateAhead": {
        const { lastHandledPeriodId: periodId, definedAt = null } = params;
        this.loose.push({ kind: "state_ahead", periodId, definedAt });
      }
    }
  }

  remember(more: Partial<Memory>): void {
    this.memory = { ...this.memory, ...more };
  }

  /** undefined: not known; null: not there. */
  job(name: string): JobView | null | undefined {
    return this.observed.jobs.get(name);
  }

  /** By the name of its Job, of what is claimed on record. */
  run(name: string): ActiveJob | undefined {
    return this.before.active?.find((run) => run.name === name);
  }

  /** Claimed, on record or about to be. */
  isActive({ uid, name }: JobView): boolean {
    const isClaimed = this.before.active?.some((run) => run.uid === uid) === true;
    return isClaimed || activeStates(this.document).some(({ AttemptID }) => AttemptID === name);
  }

  lookAgain(at: EpochMs): void {
    this.lookAgainAt = Math.min(this.lookAgainAt ?? at, at);
  }
}

/**
 * S23: a claim that made way before it was on record. As long as its Job can still be released by another leader, that it
 * never began is not known: it is taken over as a run, and makes way as one.
 */
function hasGivenUp({ attempts }: Activation): boolean {
  return attempts.some(({ execution }) => execution.matches({ gated: "closed" }));
}

function podGraceMs({ spec }: KronJob): number {
  const seconds = spec.jobTemplate.spec.template.spec["terminationGracePeriodSeconds"];
  return typeof seconds === "number" ? seconds * SECOND_MS : OPERATOR_TIMES.defaultPodGraceMs;
}
