/**
 * The loop that every job goes through: messages wait in the job's inbox, each one is taken through the pure `step`, its
 * effects are carried out in order, and what comes of them returns as messages. Steps of one job never interleave; jobs
 * share nothing but the committer and the gates.
 */

import { type ErrorComponent, KronError } from "../../../core/base/errors/kron-error.js";
import { type ErrorCode, errorKind } from "../../../core/base/errors/registry.js";
import type { Settings } from "../../../core/config/settings.js";
import { compileRule } from "../../../core/decision/compile.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { firstSight } from "../../../core/restart/first-sight.js";
import type { StateDocument } from "../../../core/state/document.js";
import { type EpochMs, formatInstant } from "../../../core/time/instant.js";
import {
  type Activation,
  activate,
  documentOfActivation,
  isResting,
  liveNominalAt,
  nextWakeAt,
} from "../../../machines/activation.js";
import type { OutwardEffect } from "../../../machines/effects.js";
import { type ActivationEvent, type Step, step } from "../../../machines/step.js";
import type { DefinitionVersion } from "../../../persist/store.js";
import type { SupervisorPorts } from "../port.js";
import { type JobEntry, type Message, type Prearmed, ruleHashOf } from "../rows/job-entry.js";
import { Committer, type Contribution } from "../write/committer.js";
import type { SupervisorComponent, SupervisorEvent } from "../write/events.js";
import { Records } from "../write/records.js";
import { type StepWrite, StepWriter } from "../write/step-writer.js";
import type { RunPlace } from "./arm-request.js";
import { Claims } from "./claims.js";
import { Executor, type Trouble } from "./executor.js";
import type { SupervisorObserver } from "./observer.js";

export interface CoreHost {
  readonly place: () => RunPlace;
  /** Where messages for this job go now; null when it is gone. */
  readonly entryOf: (identity: string) => JobEntry | null;
  readonly settings: () => Settings;
  readonly onSettled: (entry: JobEntry) => void;
  /** Nothing is being prepared for this job any more. */
  readonly onIdle: (entry: JobEntry) => void;
  readonly onFatal: (error: KronError) => void;
  /** Time was lost or moved, and this job has not been told yet (S13). */
  readonly isBehind: (entry: JobEntry, now: EpochMs) => boolean;
}

/** A definition, and what makes it the one in force. */
export interface Greeting {
  readonly definition: JobDefinition;
  readonly version: DefinitionVersion;
}

interface Asked {
  readonly resolve: () => void;
  readonly reject: (error: KronError) => void;
}

export class SupervisorCore {
  readonly executor: Executor;
  readonly records: Records;
  readonly claims: Claims;
  private readonly committer: Committer;
  private readonly writer: StepWriter;
  /** Both are rejected when something fatal happens: nothing more will come of what is under way. */
  private readonly idleWaiters = new Set<Asked>();
  private readonly asked = new Set<Asked>();
  private failure: KronError | null = null;
  private underWay = 0;
  private isHalted = false;

  constructor(
    readonly ports: SupervisorPorts,
    private readonly host: CoreHost,
  ) {
    const onFailure = (error: unknown): void => this.fail(error, "commit");
    this.committer = new Committer(ports.store, ports.term, ports.clock, onFailure, () => this.note({}));
    this.writer = new StepWriter(ports.versions, ports.clock, this.committer, this);
    this.records = new Records(ports.store);
    this.executor = new Executor(ports, this, host.place);
    this.claims = new Claims(ports, this.records, this.committer, this.writer, this.executor, this);
  }

  deliver(entry: JobEntry, event: ActivationEvent, now: EpochMs | null = null): void {
    this.send(entry, { event: () => event, now });
  }

  /** Resolves when the message was taken and what it changed is durable; what it set in motion may still be under way. */
  ask(entry: JobEntry, message: Message): Promise<void> {
    if (this.isStopped) return Promise.reject(this.failure ?? ended());
    return new Promise((resolve, reject) => {
      const asked = { resolve, reject };
      this.asked.add(asked);
      const onTaken = (): void => {
        this.asked.delete(asked);
        resolve();
      };
      this.send(entry, { ...message, onTaken });
    });
  }

  /**
   * A job of which nothing is on record. What would come of telling it its definition is written without a step of its
   * machines, where that is simple; meanwhile it takes no messages. False: it must be told.
   */
  async greet(entry: JobEntry, { definition, version }: Greeting): Promise<boolean> {
    const { policy } = definition;
    const rule = { compiled: compileRule(definition), definitionHash: ruleHashOf(definition) };
    const first = firstSight({ ...rule, isSuspended: policy.suspend }, this.ports.clock.now());
    // Whoever looks on is to see the steps.
    if (first === null || this.isSeen || !entry.isResting || this.isStopped) return false;
    entry.isBusy = true;
    try {
      await this.track(this.writer.writeFirstSight(entry, first, version));
    } finally {
      entry.isBusy = false;
    }
    entry.liveAt = first.liveAt;
    entry.wakeAt = first.wakeAt;
    if (entry.inbox.length > 0) void this.work(entry);
    else this.host.onSettled(entry);
    return true;
  }

  /** Makes durable what belongs to no step. */
  note(contribution: Contribution): void {
    this.begin(this.track(this.committer.add(contribution)));
  }

  emit(event: SupervisorEvent): void {
    this.ports.onEvent(event);
  }

  report(code: ErrorCode, message: string, { operation, identity, periodId }: Trouble): void {
    const component: ErrorComponent & SupervisorComponent = operation === "decide" ? "scheduler" : "executor";
    const about = { ...(identity === undefined ? {} : { identity }), ...(periodId === undefined ? {} : { periodId }) };
    const error = new KronError(code, message, { component, operation, ...about });
    const { level } = errorKind(code);
    this.emit({ at: this.ports.clock.now(), event: "error", component, level, error, ...about });
  }

  /** After this nothing is taken from any inbox. */
  halt(): void {
    this.isHalted = true;
    for (const { reject } of this.asked) reject(ended());
    this.asked.clear();
  }

  /** Rejects when something fatal happened. */
  whenIdle(): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve, reject) => this.idleWaiters.add({ resolve, reject }));
  }

  async track<T>(operation: Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await operation;
    } finally {
      this.finished();
    }
  }

  begin(operation: Promise<unknown>): void {
    operation.catch((error: unknown) => this.fail(error, "run"));
  }

  /** Who looks on; null for nobody. */
  get observer(): SupervisorObserver | null {
    return this.ports.observer?.current ?? null;
  }

  get isStopped(): boolean {
    return this.isHalted;
  }

  get isSeen(): boolean {
    return this.observer?.isWatched ?? false;
  }

  private get isIdle(): boolean {
    return this.underWay === 0 && this.committer.isIdle && this.executor.gates.isIdle;
  }

  /** Messages of one job all go through one inbox, whoever still holds an entry that was dropped meanwhile. */
  private send(to: JobEntry, message: Message): void {
    if (this.isStopped) return;
    const entry = to.isDropped ? this.host.entryOf(to.identity) : to;
    // What is gone has nothing under way, so there is nobody to whom it would matter.
    if (entry === null) {
      message.onTaken?.();
      return;
    }
    entry.inbox.push(message);
    if (!entry.isBusy) void this.work(entry);
  }

  /** Makes what the job needs ready ahead of its second, as far as that is possible. */
  prepare(entry: JobEntry): void {
    // Where nothing more can be prepared, the definition need not be read for it.
    if (this.executor.hasRoomAhead) this.begin(this.track(this.prepareNow(entry)));
    else this.host.onIdle(entry);
  }

  private async prepareNow(entry: JobEntry): Promise<void> {
    entry.holds += 1;
    try {
      await this.load(entry);
      const prearmed = this.isStopped ? null : this.executor.prepare(entry);
      if (prearmed !== null) await this.claims.prepare(entry, prearmed);
    } finally {
      entry.holds -= 1;
      if (!this.isStopped) this.host.onIdle(entry);
    }
  }

  /** Reads the definition in force, if it was not read yet. */
  async load(entry: JobEntry): Promise<void> {
    if (entry.isLoaded) return;
    const definition = await this.records.definitionOf(entry.identity);
    if (!entry.isLoaded) entry.use(definition, this.host.settings());
  }

  /** A job has taken steps that were worked out before; it hears nothing until it goes on. */
  enter(entry: JobEntry, activation: Activation, successorDueAt: EpochMs | null): void {
    if (entry.isBusy || entry.activation !== null)
      throw new Error(`invariant broken: ${entry.identity} is not at rest`);
    entry.isBusy = true;
    entry.activation = activation;
    entry.successorDueAt = successorDueAt;
    this.look(entry, activation);
    this.observer?.activated(entry.definition, activation, this.ports.clock.now());
    this.executor.follow(entry, [], activation.attempts);
  }

  goOn(entry: JobEntry, first: Message): Promise<void> {
    entry.inbox.unshift(first);
    return this.work(entry);
  }

  private async work(entry: JobEntry): Promise<void> {
    entry.isBusy = true;
    this.underWay += 1;
    try {
      for (let message = entry.inbox.shift(); message !== undefined && !this.isStopped; message = entry.inbox.shift()) {
        await this.take(entry, message);
      }
    } catch (error) {
      this.fail(error, "step", entry.identity);
    } finally {
      entry.isBusy = false;
      if (!this.isStopped) this.settle(entry);
      this.finished();
    }
  }

  private async take(entry: JobEntry, message: Message): Promise<void> {
    const wasResting = entry.activation === null;
    entry.hear();
    await this.load(entry);
    entry.activation ??= activate(await this.records.documentOf(entry.identity), entry.scope);
    const now = message.now ?? this.ports.clock.now();
    if (wasResting) this.observer?.activated(entry.definition, entry.activation, now);
    const event = message.event(entry, now);
    entry.along = message.along ?? null;
    const wake = this.wakeBefore(entry, event, now, wasResting);
    if (wake !== null) await this.tell(entry, wake, now, null);
    if (event.type !== "WAKE") await this.tell(entry, event, now, message.attemptId ?? null);
    await this.writer.writeAlong(entry);
    message.onTaken?.();
  }

  /**
   * What a job must know before it hears of anything else: that time was lost (S13), and, at rest, what it was waiting for,
   * which lies in the entry alone. Events that look for the live period anew need neither.
   */
  private wakeBefore(
    entry: JobEntry,
    event: ActivationEvent,
    now: EpochMs,
    wasResting: boolean,
  ): ActivationEvent | null {
    if (event.type === "DURABLE" || event.type === "REFUSED" || entry.isUntold) return null;
    const mustReturn = entry.mustReturn;
    entry.mustReturn = false;
    if (LOOKS_ANEW.has(event.type)) return null;
    const nominalAt = wasResting ? entry.liveAt : null;
    const isWake = event.type === "WAKE";
    const isReturning = mustReturn || (isWake ? event.isReturning : this.host.isBehind(entry, now));
    return isWake || isReturning || nominalAt !== null ? { type: "WAKE", isReturning, nominalAt } : null;
  }

  private async tell(entry: JobEntry, event: ActivationEvent, now: EpochMs, attemptId: string | null): Promise<void> {
    const { activation, prearmed } = entry;
    if (activation === null) throw new Error(`invariant broken: ${entry.identity} is not live`);
    if (this.isStopped) return;
    const freshId = attemptId ?? prearmed?.attemptId ?? this.ports.newId();
    let taken = step(entry.scope, activation, event, { now, freshId });
    // A gate that was made ahead has its id already. The attempt that takes it gets the same one, and no other attempt.
    const use = attemptId !== null || prearmed === null ? "none" : useOf(prearmed, taken);
    if (use === "foreign") taken = step(entry.scope, activation, event, { now, freshId: this.ports.newId() });
    if (use === "taken") entry.prearmed = null;
    const { effects } = taken;
    this.observer?.stepped(
      entry.identity,
      event,
      {
        before: activation,
        after: taken.activation,
        effects,
        definition: entry.definition,
      },
      now,
    );
    entry.activation = taken.activation;
    entry.successorDueAt = taken.successorDueAt;
    this.executor.follow(entry, activation.attempts, taken.activation.attempts);
    if (event.type === "STARTED") this.confirm(entry, activation, taken);
    await this.carryOut(entry, effects, documentOfActivation(activation), use === "taken" ? prearmed : null);
  }

  /**
   * That a run has begun changes nothing for its job, and its end will say it too; but whoever finds the record after a
   * crash in between knows by it that the run was one (S23).
   */
  private confirm(entry: JobEntry, before: Activation, { activation, effects }: Step): void {
    const document = documentOfActivation(activation);
    const isWritten = effects.some(({ type }) => type === "persist");
    if (isWritten || document === documentOfActivation(before)) return;
    this.writer.writeUnhurried(entry, document);
  }

  /** In order: nothing before what stands before it is durable. */
  private async carryOut(
    entry: JobEntry,
    effects: readonly OutwardEffect[],
    before: StateDocument,
    ahead: Prearmed | null,
  ): Promise<void> {
    let unwritten: StepWrite[] = [];
    for (const effect of effects) {
      if (effect.type === "persist") {
        unwritten.push(effect.params);
        continue;
      }
      await this.persist(entry, unwritten, before);
      unwritten = [];
      // Another job's commit may have failed meanwhile: from then on nothing is begun.
      if (!this.isStopped) this.perform(entry, effect, ahead);
    }
    await this.persist(entry, unwritten, before);
  }

  /** What was known of the job is not true any more: somebody else has written since. */
  async refusal({ identity }: JobEntry, attemptId: string): Promise<ActivationEvent> {
    return { type: "REFUSED", attemptId, document: await this.records.documentOf(identity) };
  }

  private async persist(entry: JobEntry, writes: readonly StepWrite[], before: StateDocument): Promise<void> {
    const isOurs = await this.writer.write(entry, writes, before);
    for (const { claimedBy } of writes) {
      if (claimedBy === null) continue;
      const event = isOurs
        ? ({ type: "DURABLE", attemptId: claimedBy } as const)
        : await this.refusal(entry, claimedBy);
      // First of all: until it is told, the claim is not known to be durable.
      entry.inbox.unshift({ event: () => event, now: null });
    }
  }

  private perform(entry: JobEntry, effect: Exclude<OutwardEffect, { type: "persist" }>, ahead: Prearmed | null): void {
    const { identity } = entry;
    switch (effect.type) {
      case "arm":
        this.begin(this.track(this.executor.arm(entry, effect.params, ahead)));
        return;
      case "closeGate":
        this.begin(this.executor.closeGate(effect.params.attemptId));
        return;
      case "go":
        this.begin(this.executor.go(entry, effect.params));
        return;
      case "terminate":
        this.begin(this.executor.terminate(entry, effect.params));
        return;
      case "undecided": {
        const { nominalAt, message } = effect.params;
        const about = { operation: "decide", identity, periodId: formatInstant(nominalAt) };
        this.report("decision-failed", message, about);
        return;
      }
      case "stateAhead": {
        const periodId = effect.params.lastHandledPeriodId;
        const about = { component: "scheduler", level: "warn", identity, periodId } as const;
        this.emit({ at: this.ports.clock.now(), event: "state_ahead_of_clock", ...about });
      }
    }
  }

  /** What the job waits for next; without anything under way it is passivated. */
  private settle(entry: JobEntry): void {
    const { activation, prearmed } = entry;
    if (activation === null) return;
    this.look(entry, activation);
    const isForLive = entry.liveAt !== null && prearmed?.periodId === formatInstant(entry.liveAt);
    if (prearmed !== null && !isForLive) this.executor.unprepare(entry);
    if (isResting(activation) && activation.undecided === null) {
      entry.activation = null;
      this.observer?.passivated(entry.identity, entry.wakeAt);
    }
    this.host.onSettled(entry);
  }

  private look(entry: JobEntry, activation: Activation): void {
    entry.wakeAt = nextWakeAt(activation, entry.successorDueAt);
    entry.liveAt = liveNominalAt(activation);
  }

  private fail(cause: unknown, operation: string, identity?: string): void {
    if (this.isStopped) return;
    this.isHalted = true;
    const about = {
      component: "scheduler",
      operation,
      cause,
      ...(identity === undefined ? {} : { identity }),
    } as const;
    const error = cause instanceof KronError ? cause : new KronError("invariant-broken", messageOf(cause), about);
    this.failure = error;
    this.claims.tellAll();
    for (const { reject } of [...this.idleWaiters, ...this.asked]) reject(error);
    this.idleWaiters.clear();
    this.asked.clear();
    // What waits behind its gate may not be released any more, whatever the failed write has become.
    this.executor.shut().catch(() => {});
    this.host.onFatal(error);
  }

  private finished(): void {
    this.underWay -= 1;
    // The turn after: what was just settled may have begun something new.
    setImmediate(() => {
      if (!this.isIdle || this.failure !== null) return;
      for (const { resolve } of this.idleWaiters) resolve();
      this.idleWaiters.clear();
    });
  }
}

/** These look for the live period anew, or give it up. */
const LOOKS_ANEW: ReadonlySet<ActivationEvent["type"]> = new Set(["DEFINE", "REMOVE", "RESUME"]);

function useOf({ attemptId, periodId }: Prearmed, { effects }: Step): "none" | "taken" | "foreign" {
  const arm = effects.find((effect) => effect.type === "arm" && effect.params.attemptId === attemptId);
  if (arm?.type !== "arm") return "none";
  return arm.params.source === null && arm.params.periodId === periodId ? "taken" : "foreign";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function ended(): KronError {
  return new KronError("launcher-unavailable", "the daemon is stopping", { component: "scheduler", operation: "ask" });
}
