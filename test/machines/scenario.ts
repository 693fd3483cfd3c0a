/** One identity under the production step, told what happens and asked what it wants done, in words. */
import { compileRule } from "../../src/core/decision/compile.js";
import type { SchedulingRule } from "../../src/core/decision/rule.js";
import type { Policy } from "../../src/core/job/definition.js";
import { newDocument, type StateDocument } from "../../src/core/state/document.js";
import type { LedgerFact } from "../../src/core/state/facts.js";
import { formatInstant } from "../../src/core/time/instant.js";
import {
  type Activation,
  activate,
  documentOfActivation,
  isResting,
  type JobScope,
  nextWakeAt,
} from "../../src/machines/activation.js";
import type { OutwardEffect } from "../../src/machines/effects.js";
import { type ActivationEvent, type Stepper, step } from "../../src/machines/step.js";
import { at, IDENTITY, policyOf, ruleOf } from "../support/scheduling.js";

export interface Plot {
  readonly rule?: Partial<SchedulingRule>;
  readonly policy?: Partial<Policy>;
  readonly scope?: Partial<JobScope>;
  readonly document?: Partial<StateDocument>;
  readonly step?: Stepper;
}

export class Scenario {
  scope: JobScope;
  activation: Activation;
  readonly #step: Stepper;
  #arms = 0;
  readonly facts: LedgerFact[] = [];
  #successorDueAt: number | null = null;

  constructor({ rule, policy, scope, document, step: stepper }: Plot = {}) {
    this.#step = stepper ?? step;
    this.scope = {
      compiled: compileRule(ruleOf(rule)),
      policy: policyOf(policy),
      timeoutMs: null,
      startGraceMs: 60_000,
      killGraceMs: 5000,
      historyLimit: 5,
      ...scope,
    };
    this.activation = activate(
      { ...newDocument(IDENTITY), DefinedAt: "2026-01-01T00:00:00Z", ...document },
      this.scope,
    );
  }

  get document(): StateDocument {
    return documentOfActivation(this.activation);
  }

  get isResting(): boolean {
    return isResting(this.activation);
  }

  get wakeAt(): string | null {
    const next = nextWakeAt(this.activation, this.#successorDueAt);
    return next === null ? null : formatInstant(next);
  }

  /** The live period, as `2026-03-01T00:00:00Z planned`. */
  get live(): string | null {
    const { period } = this.activation;
    return period && `${period.context.occasion.periodId} ${pathOf(period.value)}`;
  }

  wake(now: string, isReturning = false): readonly string[] {
    return this.tell(now, { type: "WAKE", isReturning, nominalAt: null });
  }

  ready(now: string, attemptId: string, pid = 7): readonly string[] {
    return this.tell(now, { type: "READY", attemptId, holder: { kind: "process", pid, startTicks: 1, bootId: "b" } });
  }

  durable(now: string, attemptId: string): readonly string[] {
    return this.tell(now, { type: "DURABLE", attemptId });
  }

  exited(now: string, attemptId: string, exitCode: number | null = 0): readonly string[] {
    return this.tell(now, {
      type: "EXITED",
      attemptId,
      ending: { kind: "exited", code: exitCode, signal: null, reason: null },
    });
  }

  /** From the gate to the running command. */
  start(now: string, attemptId: string, pid = 7): void {
    this.ready(now, attemptId, pid);
    this.durable(now, attemptId);
    this.tell(now, { type: "STARTED", attemptId });
  }

  tell(now: string, event: ActivationEvent): readonly string[] {
    const moment = { now: at(now), gate: null, freshId: () => `a${this.#arms + 1}` };
    const taken = this.#step(this.scope, this.activation, event, moment);
    this.#arms += taken.effects.filter((effect) => effect.type === "arm").length;
    this.activation = taken.activation;
    this.#successorDueAt = taken.successorDueAt;
    this.facts.push(...taken.effects.flatMap(({ type, params }) => (type === "persist" ? params.facts : [])));
    return taken.effects.map(wordsOf);
  }
}

function wordsOf({ type, params }: OutwardEffect): string {
  switch (type) {
    case "persist":
      return `persist ${params.facts.map((fact) => ("outcome" in fact ? `${fact.outcome}${fact.reason === null ? "" : `(${fact.reason})`}` : fact.kind)).join("+")}`;
    case "arm":
      return `arm ${params.attemptId} ${params.source ?? "period"} ${params.periodId}`;
    case "go":
      return `go ${params.attemptId} by ${formatInstant(params.latestAt)}`;
    case "closeGate":
      return `close ${params.attemptId}`;
    case "terminate":
      return `terminate ${params.attemptId} ${params.reason}`;
    case "undecided":
      return `undecided ${formatInstant(params.nominalAt)} ${params.failures}`;
    default:
      return `${type} ${params.lastHandledPeriodId}`;
  }
}

function pathOf(value: unknown): string {
  return typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([key, inner]) => `${key}.${pathOf(inner)}`)
        .join()
    : String(value);
}
