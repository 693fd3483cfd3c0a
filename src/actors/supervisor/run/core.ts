/**
 * What all jobs share: the desk that their actors and the parts around them work at. It hands messages to whoever is to take
 * them, counts what is under way, and knows when going on could start something twice.
 */

import { type ErrorComponent, KronError } from "../../../core/base/errors/kron-error.js";
import { messageOf } from "../../../core/base/errors/message.js";
import { type ErrorCode, errorKind } from "../../../core/base/errors/registry.js";
import type { Settings } from "../../../core/config/settings.js";
import { compileRule } from "../../../core/decision/compile.js";
import { contentHashOf } from "../../../core/job/content-hash.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { canonicalDefinitionText } from "../../../core/job/schema.js";
import { firstSight } from "../../../core/restart/first-sight.js";
import type { StateDocument } from "../../../core/state/document.js";
import type { EpochMs } from "../../../core/time/instant.js";
import { activate } from "../../../machines/activation.js";
import type { ActivationEvent } from "../../../machines/step.js";
import { isHalted } from "../../../machines/supervisor-phase.js";
import type { DefinitionVersion } from "../../../persist/store.js";
import { LostTimes } from "../../lost-times.js";
import type { Phase } from "../../phase.js";
import { JobActor, type JobWorld } from "../job-actor.js";
import type { SupervisorPorts } from "../port.js";
import { type JobEntry, type Message, ruleHashOf } from "../rows/job-entry.js";
import { Committer, type Contribution } from "../write/committer.js";
import type { JobObject } from "../write/contribution.js";
import type { SupervisorComponent, SupervisorEvent } from "../write/events.js";
import { Records } from "../write/records.js";
import { StepWriter } from "../write/step-writer.js";
import type { RunPlace } from "./arm-request.js";
import { Claims } from "./claims.js";
import type { Trouble } from "./desk.js";
import { Executor } from "./executor.js";
import type { SupervisorObserver } from "./observer.js";
import { TurnQueue } from "./turn-queue.js";

/** Whoever keeps the set of jobs. */
interface CoreHost {
  readonly place: () => RunPlace;
  /** Where messages for this job go now; null when it is gone. */
  readonly entryOf: (identity: string) => JobEntry | null;
  readonly settings: () => Settings;
  readonly onSettled: (entry: JobEntry) => void;
  /** Nothing is being prepared for this job any more. */
  readonly onIdle: (entry: JobEntry) => void;
  /** Time was lost or moved, and this job has not been told yet (S13). */
  readonly isBehind: (entry: JobEntry, now: EpochMs) => boolean;
}

/** A definition, and what makes it the one in force. */
interface Greeting {
  readonly definition: JobDefinition;
  readonly version: DefinitionVersion;
  /** What becomes durable with it. */
  readonly objects?: readonly JobObject[];
}

interface Asked {
  readonly resolve: () => void;
  readonly reject: (error: KronError) => void;
}

export class SupervisorCore implements JobWorld {
  readonly ports: SupervisorPorts;
  readonly executor: Executor;
  readonly records: Records;
  readonly claims: Claims;
  readonly writer: StepWriter;
  readonly turns = new TurnQueue();
  readonly lost = new LostTimes();
  readonly #host: CoreHost;
  readonly #committer: Committer;
  readonly #actors = new WeakMap<JobEntry, JobActor>();
  /** Both are rejected when something fatal happens: nothing more will come of what is under way. */
  readonly #idleWaiters = new Set<Asked>();
  readonly #asked = new Set<Asked>();
  readonly #phase: Phase;
  #underWay = 0;
  readonly #onSettled = (): void => this.#finished();
  readonly #onRejected = (error: unknown): void => this.fail(error, "run");

  constructor(ports: SupervisorPorts, phase: Phase, host: CoreHost) {
    this.ports = ports;
    this.#phase = phase;
    this.#host = host;
    const onFailure = (error: unknown): void => this.fail(error, "commit");
    const committer = new Committer(ports.store, ports.term, ports.clock, onFailure, () => this.note({}));
    this.#committer = committer;
    this.writer = new StepWriter(ports, committer, this);
    this.records = new Records(ports.store);
    this.executor = new Executor(ports, phase, this, host.place);
    const { executor, records, writer } = this;
    this.claims = new Claims({ ports, records, committer, writer, executor, desk: this });
  }

  deliver(entry: JobEntry, event: ActivationEvent, now: EpochMs | null = null): void {
    this.#send(entry, { event: () => event, now });
  }

  /** Resolves when the message was taken and what it changed is durable; what it set in motion may still be under way. */
  ask(entry: JobEntry, message: Message): Promise<void> {
    if (this.isStopped) return Promise.reject(this.#phase.failure ?? ended());
    return new Promise((resolve, reject) => {
      const asked = { resolve, reject };
      this.#asked.add(asked);
      const onTaken = (): void => {
        this.#asked.delete(asked);
        resolve();
      };
      this.#send(entry, { ...message, onTaken });
    });
  }

  /** The claim of a job that is due, if it was worked out ahead. False: it is to be woken. */
  claimAhead(entry: JobEntry, now: EpochMs): boolean {
    const rehearsal = this.claims.rehearsalOf(entry, this.ports.clock.now());
    if (rehearsal !== null) this.#actorOf(entry).claim(rehearsal, now);
    return rehearsal !== null;
  }

  /**
   * A job of which nothing is on record. What would come of telling it its definition is written without a step of its
   * machines, where that is simple; meanwhile it takes no messages. False: it must be told.
   */
  async greet(entry: JobEntry, { definition, version, objects = [] }: Greeting): Promise<boolean> {
    const { policy } = definition;
    const compiled = compileRule(definition);
    const stopAt = policy.stop?.at ?? null;
    const rule = { compiled, definitionHash: ruleHashOf(definition), isSuspended: policy.suspend, stopAt };
    const now = this.ports.clock.now();
    const first = firstSight(rule, now);
    if (first === null || entry.life !== "resting" || this.isStopped) return false;
    entry.engage();
    try {
      await this.track(this.writer.writeFirstSight(first, compiled, { definition, version, objects }));
    } finally {
      entry.disengage();
    }
    entry.liveAt = first.live?.slotAt ?? null;
    entry.glance({ definition, compiled, document: first.document, live: first.live }, now);
    entry.wakeAt = first.wakeAt;
    this.observer?.greeted(definition, first.document, first.wakeAt, now);
    this.#actorOf(entry).goOn();
    return true;
  }

  /** Makes durable what belongs to no step. */
  note(contribution: Contribution): void {
    this.begin(this.track(this.#committer.add(contribution)));
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

  /** Nothing is taken from any mailbox any more: whoever waits for something is told that nothing will come of it. */
  halt(): void {
    const { failure } = this.#phase;
    for (const { reject } of this.#asked) reject(failure ?? ended());
    this.#asked.clear();
    if (failure === null) return;
    this.claims.tellAll();
    for (const { reject } of this.#idleWaiters) reject(failure);
    this.#idleWaiters.clear();
  }

  /** Rejects when something fatal happened. */
  whenIdle(): Promise<void> {
    const { failure } = this.#phase;
    if (failure !== null) return Promise.reject(failure);
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve, reject) => this.#idleWaiters.add({ resolve, reject }));
  }

  /** What is tracked is handed on as it is: a run is a dozen of these, and a promise around each would be most of them. */
  track<T>(operation: Promise<T>): Promise<T> {
    this.#underWay += 1;
    operation.then(this.#onSettled, this.#onSettled);
    return operation;
  }

  begin(operation: Promise<unknown>): void {
    operation.catch(this.#onRejected);
  }

  /** Who looks on; null for nobody. */
  get observer(): SupervisorObserver | null {
    return this.ports.observer?.current ?? null;
  }

  get isStopped(): boolean {
    return isHalted(this.#phase.snapshot);
  }

  get isIdle(): boolean {
    // Whatever of the gates is its own is tracked; others of the same machine may have theirs under way for ever.
    return this.#underWay === 0 && this.#committer.isIdle;
  }

  /** Makes what the job needs ready ahead of its second, as far as that is possible. */
  prepare(entry: JobEntry): void {
    // Where nothing more can be prepared, the definition need not be read for it.
    if (this.executor.hasRoomAhead) this.begin(this.track(this.#prepareNow(entry)));
    else this.#host.onIdle(entry);
  }

  /** Reads the definition in force, if it was not read yet. */
  async load(entry: JobEntry): Promise<void> {
    if (entry.isLoaded) return;
    const definition = await this.records.definitionOf(entry.identity);
    if (!entry.isLoaded) entry.use(definition, this.#host.settings());
  }

  /**
   * Somebody else has written of the job, so that nothing that is known of it here need be true any more: its definition is
   * read anew, and what rests upon the one before is forgotten. Returns its document.
   */
  async renew(entry: JobEntry): Promise<StateDocument> {
    const { identity } = entry;
    const definition = await this.records.definitionOf(identity);
    const document = await this.records.documentOf(identity);
    entry.hear();
    entry.use(definition, this.#host.settings());
    entry.isRemoved = document.RemovedAt !== undefined;
    entry.content = contentHashOf(canonicalDefinitionText(definition));
    return document;
  }

  /** Takes a job up as it is on record, and watches what goes on of it. */
  async adopt(entry: JobEntry, document: StateDocument): Promise<void> {
    entry.activation = activate(document, entry.scope);
    this.observer?.activated(entry.definition, entry.activation, this.ports.clock.now());
    for (const { execution } of entry.activation.attempts) await this.executor.adopt(entry, execution);
  }

  isBehind(entry: JobEntry, now: EpochMs): boolean {
    return this.#host.isBehind(entry, now);
  }

  settled(entry: JobEntry): void {
    this.#host.onSettled(entry);
  }

  fail(cause: unknown, operation: string, identity?: string): void {
    if (this.isStopped) return;
    const about = {
      component: "scheduler",
      operation,
      cause,
      ...(identity === undefined ? {} : { identity }),
    } as const;
    this.#phase.fail(cause instanceof KronError ? cause : new KronError("invariant-broken", messageOf(cause), about));
  }

  /** Messages of one job all go to one actor, whoever still holds an entry that was dropped meanwhile. */
  #send(to: JobEntry, message: Message): void {
    if (this.isStopped) return;
    const entry = to.life === "dropped" ? this.#host.entryOf(to.identity) : to;
    // What is gone has nothing under way, so there is nobody to whom it would matter.
    if (entry === null) message.onTaken?.();
    else this.#actorOf(entry).send(message);
  }

  #actorOf(entry: JobEntry): JobActor {
    const known = this.#actors.get(entry);
    if (known !== undefined) return known;
    const actor = new JobActor(entry, this);
    this.#actors.set(entry, actor);
    return actor;
  }

  async #prepareNow(entry: JobEntry): Promise<void> {
    entry.prepares(1);
    try {
      await this.load(entry);
      if (!this.executor.canPrepare(entry)) return;
      const { heard } = entry;
      const slot = entry.liveAt === null ? await this.claims.slotAhead(entry) : null;
      const isVoid = this.isStopped || entry.heard !== heard;
      const prearmed = isVoid ? null : this.executor.prepare(entry, slot?.arm ?? null);
      if (prearmed !== null) await this.claims.prepare(entry, prearmed, slot?.document ?? null);
    } finally {
      entry.prepares(-1);
      if (!this.isStopped) this.#host.onIdle(entry);
    }
  }

  #finished(): void {
    this.#underWay -= 1;
    // Whatever is still under way will look in its turn.
    if (this.#underWay > 0) return;
    // The turn after: what was just settled may have begun something new.
    setImmediate(() => {
      if (!this.isIdle || this.#phase.failure !== null) return;
      for (const { resolve } of this.#idleWaiters) resolve();
      this.#idleWaiters.clear();
    });
  }
}

function ended(): KronError {
  return new KronError("launcher-unavailable", "the daemon is stopping", { component: "scheduler", operation: "ask" });
}
