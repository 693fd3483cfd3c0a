/**
 * The actor of one job: a mailbox, and one message after another taken through the pure `step`. What a step changes is
 * durable before its effects are carried out, and what comes of those returns as messages. Its steps never interleave; when
 * nothing is under way any more it is passivated, and its document is all that is left.
 */

import { liveOf } from "../../core/period/occasion.js";
import type { StateDocument } from "../../core/state/document.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import {
  type Activation,
  activate,
  documentOfActivation,
  isResting,
  liveNominalAt,
  nextWakeAt,
} from "../../machines/activation.js";
import type { EffectParams, OutwardEffect } from "../../machines/effects.js";
import { type ActivationEvent, type Step, step } from "../../machines/step.js";
import type { LostTimes } from "../lost-times.js";
import type { SupervisorPorts } from "./port.js";
import type { JobEntry, Message, Prearmed } from "./rows/job-entry.js";
import type { Claimant, Claims } from "./run/claims.js";
import type { Desk } from "./run/desk.js";
import type { Executor } from "./run/executor.js";
import type { SupervisorObserver } from "./run/observer.js";
import type { Rehearsal } from "./run/rehearsal.js";
import type { TurnQueue } from "./run/turn-queue.js";
import { claimIn } from "./write/contribution.js";
import type { Records } from "./write/records.js";
import type { StepWriter } from "./write/step-writer.js";

/** What all jobs share. */
export interface JobWorld extends Desk {
  readonly ports: Pick<SupervisorPorts, "clock" | "newId">;
  readonly records: Records;
  readonly writer: StepWriter;
  readonly executor: Executor;
  readonly claims: Claims;
  readonly turns: TurnQueue;
  readonly lost: Pick<LostTimes, "until">;
  readonly observer: SupervisorObserver | null;
  /** From then on nothing is taken from any mailbox, and nothing is begun. */
  readonly isStopped: boolean;
  load(entry: JobEntry): Promise<void>;
  /** Time was lost or moved, and this job has not been told yet (S13). */
  isBehind(entry: JobEntry, now: EpochMs): boolean;
  /** The job waits: for its time, for what is under way, or for nothing any more. */
  settled(entry: JobEntry): void;
  fail(cause: unknown, operation: string, identity?: string): void;
}

/** These look for the live period anew, or give it up. */
const LOOKS_ANEW: ReadonlySet<ActivationEvent["type"]> = new Set(["DEFINE", "REMOVE", "RESUME"]);

type Act = Exclude<OutwardEffect, { readonly type: "persist" | "go" }>;

interface Taken {
  readonly step: Step;
  readonly before: StateDocument;
  /** The gate that was made ahead, if the step has taken it. */
  readonly ahead: Prearmed | null;
}

export class JobActor implements Claimant {
  readonly entry: JobEntry;
  readonly #world: JobWorld;
  readonly #mailbox: Message[] = [];
  /** What the claim that is being made durable leaves to be done after it. */
  #claimed: Taken | null = null;
  #afterClaim: Taken | null = null;
  /** Since it settled: something was heard that a list may show. */
  #looksOther = false;

  constructor(entry: JobEntry, world: JobWorld) {
    this.entry = entry;
    this.#world = world;
  }

  send(message: Message): void {
    this.#mailbox.push(message);
    if (this.entry.life !== "busy") this.#run(() => this.#world.turns.next());
  }

  /** What was held back while something else was done with the job. */
  goOn(): void {
    if (this.#mailbox.length > 0) this.#run(() => null);
    else this.#world.settled(this.entry);
  }

  /** Takes up a claim that was worked out on paper; nothing is heard until that is durable and released. */
  claim({ attemptId, steps, contribution }: Rehearsal, now: EpochMs): void {
    const { entry } = this;
    if (entry.life === "busy" || entry.activation !== null) {
      throw new Error(`invariant broken: ${entry.identity} is not at rest`);
    }
    entry.engage();
    entry.prearmed = null;
    this.#looksOther = true;
    this.#world.observer?.activated(entry.definition, steps[0].before, now);
    for (const { event, before, step: taken } of steps) this.#take(event, before, taken, now);
    this.#run(() => this.#world.claims.make({ actor: this, attemptId, contribution, now }));
  }

  /** The claim is durable, and the machines say what that means: GO, unless something came in between. */
  durable(attemptId: string, now: EpochMs): EffectParams["go"] | null {
    const taken = this.#step({ type: "DURABLE", attemptId }, now, null);
    const claimed = this.#claimed;
    this.#claimed = null;
    this.#afterClaim = taken;
    if (claimed !== null) this.#perform(claimed);
    this.#lookAhead();
    const go = taken.step.effects.find(({ type }) => type === "go");
    return go?.type === "go" ? go.params : null;
  }

  /** What the claim would have brought about is given up with it. */
  refused(attemptId: string, document: StateDocument, now: EpochMs): void {
    this.#claimed = null;
    this.#afterClaim = this.#step({ type: "REFUSED", attemptId, document }, now, null);
    this.#look();
  }

  #run(first: () => Promise<void> | null): void {
    this.entry.engage();
    this.#world.begin(this.#world.track(this.#work(first)));
  }

  async #work(first: () => Promise<void> | null): Promise<void> {
    const { entry } = this;
    const world = this.#world;
    try {
      await first();
      if (this.#afterClaim !== null) await this.#finishClaim();
      for (let message = this.#next(); message !== undefined; message = this.#next()) await this.#hear(message);
    } catch (error) {
      world.fail(error, "step", entry.identity);
    } finally {
      entry.disengage();
      if (!world.isStopped) this.#settle();
    }
  }

  #next(): Message | undefined {
    return this.#world.isStopped ? undefined : this.#mailbox.shift();
  }

  async #hear(message: Message): Promise<void> {
    const { entry } = this;
    const world = this.#world;
    const wasResting = entry.activation === null;
    entry.hear();
    // Nearly every message finds it loaded, and brings nothing along: what need not be waited for costs no promise.
    if (!entry.isLoaded) await world.load(entry);
    entry.activation ??= activate(await world.records.documentOf(entry.identity), entry.scope);
    const before = documentOfActivation(entry.activation);
    const now = message.now ?? world.ports.clock.now();
    if (wasResting) world.observer?.activated(entry.definition, entry.activation, now);
    const event = message.event(entry, now);
    entry.along = message.along ?? null;
    const wake = this.#wakeBefore(event, now, wasResting);
    if (wake !== null) await this.#tell(wake, now, null);
    if (event.type !== "WAKE") await this.#tell(event, now, message.attemptId ?? null);
    // That its run has begun, as most jobs are told, changes nothing of it.
    const isPlain = event.type === "STARTED" && !wasResting && wake === null;
    if (!isPlain || documentOfActivation(entry.activation) !== before) this.#looksOther = true;
    if (entry.along !== null) await world.writer.writeAlong(entry);
    message.onTaken?.();
  }

  /**
   * What a job must know before it hears of anything else: that time was lost (S13), and, at rest, what it was waiting for,
   * which lies in the entry alone. Events that look for the live period anew need neither.
   */
  #wakeBefore(event: ActivationEvent, now: EpochMs, wasResting: boolean): ActivationEvent | null {
    const { entry } = this;
    if (entry.isUntold) return null;
    const mustReturn = entry.mustReturn;
    entry.mustReturn = false;
    if (LOOKS_ANEW.has(event.type)) return null;
    const nominalAt = wasResting ? entry.liveAt : null;
    const isWake = event.type === "WAKE";
    const isReturning = mustReturn || (isWake ? event.isReturning : this.#world.isBehind(entry, now));
    return isWake || isReturning || nominalAt !== null ? { type: "WAKE", isReturning, nominalAt } : null;
  }

  async #tell(event: ActivationEvent, now: EpochMs, attemptId: string | null): Promise<void> {
    if (this.#world.isStopped) return;
    const taken = this.#step(event, now, attemptId);
    const { before, step: told } = taken;
    // That a run has begun changes nothing for its job, and its end will say it too; but whoever finds the record after a
    // crash in between knows by it that the run was one (S23).
    if (event.type === "STARTED") this.#noteUnhurried(taken);
    const contribution = this.#world.writer.compose(this.entry, told, before);
    const claimedBy = claimIn(told);
    if (contribution === null || claimedBy === null) {
      if (contribution !== null) await this.#world.writer.write(this.entry, contribution);
      // Another job's commit may have failed meanwhile: from then on nothing is begun.
      if (!this.#world.isStopped) this.#perform(taken);
      return;
    }
    this.#claimed = taken;
    await this.#world.claims.make({ actor: this, attemptId: claimedBy, contribution, now });
    await this.#finishClaim();
  }

  /** Whatever else the machines have said to it that a claim is durable. */
  async #finishClaim(): Promise<void> {
    const taken = this.#afterClaim;
    this.#afterClaim = null;
    if (taken === null || this.#world.isStopped) return;
    // How it looks in a list is said when it has settled, which is next.
    this.#lookAhead();
    const contribution = this.#world.writer.compose(this.entry, taken.step, taken.before);
    if (contribution !== null) await this.#world.writer.write(this.entry, contribution);
    if (!this.#world.isStopped) this.#perform(taken);
  }

  #step(event: ActivationEvent, now: EpochMs, attemptId: string | null): Taken {
    const { activation, prearmed, scope, identity } = this.entry;
    if (activation === null) throw new Error(`invariant broken: ${identity} is not live`);
    const freshId = (): string => attemptId ?? this.#world.ports.newId();
    const isUntold = this.entry.isUntold || this.entry.isRemoved;
    const moment = { now, gate: prearmed, freshId, lost: this.#world.lost.until(now), isUntold };
    const taken = step(scope, activation, event, moment);
    const isGateTaken = taken.effects.some((effect) => {
      return effect.type === "arm" && effect.params.attemptId === prearmed?.attemptId;
    });
    if (isGateTaken) this.entry.prearmed = null;
    this.#take(event, activation, taken, now);
    return { step: taken, before: documentOfActivation(activation), ahead: isGateTaken ? prearmed : null };
  }

  /** From here on this is what the job is. */
  #take(event: ActivationEvent, before: Activation, taken: Step, now: EpochMs): void {
    const { entry } = this;
    const { activation: after, ended, successorDueAt } = taken;
    const { definition, identity } = entry;
    this.#world.observer?.stepped(identity, event, { before, after, ended, definition }, now);
    entry.activation = after;
    entry.successorDueAt = successorDueAt;
    this.#world.executor.follow(entry, before.attempts, after.attempts);
  }

  #noteUnhurried({ step: { activation, effects }, before }: Taken): void {
    const document = documentOfActivation(activation);
    const isWritten = effects.some(({ type }) => type === "persist");
    if (!isWritten && document !== before) this.#world.writer.writeUnhurried(document);
  }

  /** In order; what the step has changed is durable. GO is the act of whoever makes claims durable. */
  #perform({ step: { effects }, ahead }: Taken): void {
    for (const effect of effects) {
      if (effect.type !== "persist" && effect.type !== "go") this.#act(effect, ahead);
    }
  }

  #act(effect: Act, ahead: Prearmed | null): void {
    const { entry } = this;
    const { executor } = this.#world;
    const world = this.#world;
    const { identity } = entry;
    switch (effect.type) {
      case "arm":
        world.begin(world.track(executor.arm(entry, effect.params, ahead)));
        return;
      case "closeGate":
        world.begin(executor.closeGate(effect.params.attemptId));
        return;
      case "terminate":
        world.begin(executor.terminate(entry, effect.params));
        return;
      case "undecided": {
        const { nominalAt, message } = effect.params;
        world.report("decision-failed", message, { operation: "decide", identity, periodId: formatInstant(nominalAt) });
        return;
      }
      case "stateAhead": {
        const { lastHandledPeriodId: periodId, definedAt } = effect.params;
        const fields = definedAt === undefined ? {} : { fields: { defined_at: definedAt, counts_as: "now" } };
        const period = periodId === "" ? {} : { periodId };
        const about = { component: "scheduler", level: "warn", identity, ...period, ...fields } as const;
        world.emit({ at: world.ports.clock.now(), event: "state_ahead_of_clock", ...about });
      }
    }
  }

  /** What the job waits for next; without anything under way it is passivated. */
  #settle(): void {
    const { entry } = this;
    const { activation, prearmed } = entry;
    if (activation === null) return;
    if (this.#looksOther) this.#look();
    else this.#lookAhead();
    this.#looksOther = false;
    if (prearmed !== null && !isForNext(prearmed, entry)) this.#world.executor.unprepare(entry);
    if (isResting(activation) && activation.undecided === null) {
      entry.activation = null;
      this.#world.observer?.passivated(entry.identity, entry.wakeAt);
    }
    this.#world.settled(entry);
  }

  #look(): void {
    this.#lookAhead();
    const { entry } = this;
    const { activation } = entry;
    if (activation === null) return;
    const { definition, scope } = entry;
    const document = documentOfActivation(activation);
    const live = liveOf(activation.period?.context.occasion ?? null);
    entry.glance({ definition, compiled: scope.compiled, document, live }, this.#world.ports.clock.now());
  }

  /** What the clock brings next; how it looks in a list can wait until others have begun. */
  #lookAhead(): void {
    const { entry } = this;
    const { activation } = entry;
    if (activation === null) return;
    entry.wakeAt = nextWakeAt(activation, entry.successorDueAt);
    entry.liveAt = liveNominalAt(activation);
  }
}

/** Whether a gate is for what the job waits for. A period stays the same when its second is another; a slot is its second. */
function isForNext({ source, periodId, forAt }: Prearmed, { liveAt, wakeAt }: JobEntry): boolean {
  if (source === null) return liveAt !== null && periodId === formatInstant(liveAt);
  return liveAt === null && forAt === wakeAt;
}
