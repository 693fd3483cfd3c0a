/** The supervisor's machines in the operator's place: the same definition, the same happenings, told in their own words. */
import type { LostTime } from "../../../src/core/period/cause.js";
import { newDocument } from "../../../src/core/state/document.js";
import { formatInstant } from "../../../src/core/time/instant.js";
import {
  type Activation,
  activate,
  documentOfActivation,
  type JobScope,
  nextWakeAt,
} from "../../../src/machines/activation.js";
import type { OutwardEffect } from "../../../src/machines/effects.js";
import { type ActivationEvent, step } from "../../../src/machines/step.js";
import type { KronDefinition } from "../../../src/operator/definition.js";

const HOLDER = { kind: "process", pid: 7, startTicks: 1, bootId: "b" } as const;
const ENDED = { kind: "exited", code: 0, signal: null, reason: null } as const;

/** In a word. */
export function gapOf(firstAt: number, lastAt: number, reason: string | null = null): string {
  return `${formatInstant(firstAt)} to ${formatInstant(lastAt)} ${reason ?? ""}`;
}

export class MachineTwin {
  /** By period what became of it, and why. */
  readonly outcomes = new Map<string, string>();
  readonly ran: string[] = [];
  /** What was passed over, and why. */
  readonly gaps = new Set<string>();
  lost: readonly LostTime[] = [];
  isRefusing = false;
  #scope: JobScope;
  #activation: Activation;
  #successorDueAt: number | null = null;
  /** By period, the attempt that runs. */
  readonly #running = new Map<string, string>();
  readonly #periods = new Map<string, string>();

  constructor({ compiled, policy }: KronDefinition, definedAt: string) {
    this.#scope = {
      compiled,
      policy,
      timeoutMs: null,
      startGraceMs: 60_000,
      killGraceMs: 5_000,
      historyLimit: 20,
    };
    const document = { ...newDocument(compiled.rule.identity), DefinedAt: definedAt, DefinitionHash: "same" };
    this.#activation = activate(document, this.#scope);
  }

  get isPaused(): boolean {
    return documentOfActivation(this.#activation).Pause !== undefined;
  }

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  runUntil(until: number): void {
    for (let at = this.#nextAt(); at !== null && at <= until; at = this.#nextAt()) this.wake(at, false);
    this.wake(until, false);
  }

  wake(now: number, isReturning: boolean): void {
    this.tell(now, { type: "WAKE", isReturning, nominalAt: null });
  }

  /** As after a restart: only the document is left. */
  forget(now: number): void {
    this.#activation = activate(documentOfActivation(this.#activation), this.#scope);
    this.wake(now, true);
  }

  suspend(isSuspended: boolean, now: number): void {
    this.#scope = { ...this.#scope, policy: { ...this.#scope.policy, suspend: isSuspended } };
    this.#activation = activate(documentOfActivation(this.#activation), this.#scope);
    this.tell(now, { type: "DEFINE", hash: "same", carriedAt: null });
    this.wake(now, true);
  }

  finish(periodId: string, now: number): void {
    const attemptId = this.#running.get(periodId);
    if (attemptId === undefined) throw new Error(`${periodId} does not run`);
    this.#running.delete(periodId);
    this.tell(now, { type: "EXITED", attemptId, ending: ENDED });
  }

  tell(now: number, event: ActivationEvent): void {
    let arms = 0;
    const freshId = (): string => {
      arms += 1;
      return `a${this.#periods.size + arms}`;
    };
    const taken = step(this.#scope, this.#activation, event, { now, gate: null, freshId, lost: this.lost });
    this.#activation = taken.activation;
    this.#successorDueAt = taken.successorDueAt;
    for (const effect of taken.effects) this.#carryOut(effect, now);
  }

  #nextAt(): number | null {
    return nextWakeAt(this.#activation, this.#successorDueAt);
  }

  #carryOut({ type, params }: OutwardEffect, now: number): void {
    switch (type) {
      case "persist":
        for (const fact of params.facts) {
          if (fact.kind === "periods_not_evaluated") this.gaps.add(gapOf(fact.firstAt, fact.lastAt, fact.reason));
          if (fact.kind === "outcome") this.outcomes.set(fact.periodId, `${fact.outcome} ${fact.reason ?? ""}`);
        }
        if (params.claimedBy !== null) this.tell(now, { type: "DURABLE", attemptId: params.claimedBy });
        return;
      case "arm":
        this.#periods.set(params.attemptId, params.periodId);
        this.tell(
          now,
          this.isRefusing
            ? { type: "FAILED", attemptId: params.attemptId, code: "job-quota" }
            : { type: "READY", attemptId: params.attemptId, holder: HOLDER },
        );
        return;
      case "go": {
        const periodId = this.#periods.get(params.attemptId) ?? "";
        this.ran.push(periodId);
        this.#running.set(periodId, params.attemptId);
        this.tell(now, { type: "STARTED", attemptId: params.attemptId });
        return;
      }
      case "terminate":
        this.#end(params.attemptId, now);
        return;
      default:
        return;
    }
  }

  /** S25: gone at once, as a Job without pods is. */
  #end(attemptId: string, now: number): void {
    for (const [periodId, runs] of this.#running) if (runs === attemptId) this.#running.delete(periodId);
    this.tell(now, { type: "TERMINATED", attemptId, isGone: true });
    this.tell(now, { type: "EXITED", attemptId, ending: ENDED });
  }
}
