/**
 * Between the supervisor and the clients. What is observed is put aside at once, as references to values that never
 * change; making frames of it is done in slices beside the supervisor's work, never within it, and behind it where very much
 * happens at once: whoever looks on can wait, what is due cannot. Without clients nothing is made: only which jobs live is kept.
 */
import type { Clock, Timer } from "../../actors/clock.js";
import type { ObservedStep, SupervisorObserver } from "../../actors/supervisor/run/observer.js";
import type { JobDefinition } from "../../core/job/definition.js";
import type { StateDocument } from "../../core/state/document.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Activation } from "../../machines/activation.js";
import { jobSnapshotOf } from "../../machines/job.machine.js";
import type { ActivationEvent } from "../../machines/step.js";
import { type InspectClient, Outgoing } from "./client.js";
import { wantsIdentity } from "./filter.js";
import type { Said } from "./frames.js";
import { type LiveJob, passivatedFrame, presentFrames, restingFrame, steppedFrames } from "./life.js";
import { jobSnapshot, publicDefinition } from "./public-view.js";

export const HUB_LIMITS = {
  /** Observations that wait to be made into frames: a second of a thousand starts. */
  waiting: 20_000,
  /** So many since the last slice are a burst. What is made of it waits until it is over, but for no longer than that. */
  burst: 50,
  giveWayMs: 1_000,
  /** A slice of work, and the pause after it that is the supervisor's. */
  sliceMs: 2,
  pauseMs: 6,
} as const;

type Observation =
  | {
      readonly type: "greeted";
      readonly definition: JobDefinition;
      readonly document: StateDocument;
      readonly wakeAt: EpochMs | null;
      readonly now: EpochMs;
    }
  | { readonly type: "activated"; readonly live: KnownJob; readonly now: EpochMs }
  | {
      readonly type: "stepped";
      readonly identity: string;
      readonly event: ActivationEvent;
      readonly taken: ObservedStep;
      readonly now: EpochMs;
    }
  | {
      readonly type: "passivated";
      readonly identity: string;
      readonly wakeAt: EpochMs | null;
      readonly now: EpochMs;
    }
  | { readonly type: "said"; readonly said: readonly Said[] };

interface KnownJob {
  readonly identity: string;
  /** null: not known, since it was changed. */
  readonly definition: JobDefinition;
  readonly activation: Activation;
}

export class InspectHub implements SupervisorObserver {
  /** As far as clients were told. */
  readonly live = new Map<string, KnownJob>();
  readonly #clients = new Set<InspectClient>();
  /** Jobs that were rehydrated since a listing last asked. */
  readonly #listings = new Set<Set<string>>();
  #waiting: Observation[] = [];
  #at = 0;
  #scheduled: Timer | NodeJS.Immediate | null = null;
  /** Observations since the last slice, or since the last time that it gave way. */
  #came = 0;
  /** null: nothing is given way to. */
  #givesWaySinceMs: number | null = null;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isWatched(): boolean {
    return this.#clients.size > 0;
  }

  greeted(definition: JobDefinition, document: StateDocument, wakeAt: EpochMs | null, now: EpochMs): void {
    if (this.isWatched) this.#observe({ type: "greeted", definition, document, wakeAt, now });
  }

  activated(definition: JobDefinition, activation: Activation, now: EpochMs): void {
    const { identity } = definition;
    this.#observe({ type: "activated", live: { identity, definition, activation }, now });
  }

  stepped(identity: string, event: ActivationEvent, taken: ObservedStep, now: EpochMs): void {
    this.#observe({ type: "stepped", identity, event, taken, now });
  }

  passivated(identity: string, wakeAt: EpochMs | null): void {
    this.#observe({ type: "passivated", identity, wakeAt, now: this.#clock.now() });
  }

  /** Frames that others have made: in their turn. */
  say(said: readonly Said[]): void {
    if (this.isWatched) this.#observe({ type: "said", said });
  }

  attach(client: InspectClient): void {
    for (const identity of this.live.keys()) {
      if (wantsIdentity(client.filter, identity)) client.unlisted.add(identity);
    }
    this.#clients.add(client);
  }

  detach(client: InspectClient): void {
    client.closed();
    this.#clients.delete(client);
    if (!this.isWatched) this.#skipAll();
  }

  /** Nobody looks on: what lives is asked for again when somebody does. */
  forget(): void {
    this.live.clear();
  }

  /** What lives of a job that the client was not told of yet. */
  list(client: InspectClient, identity: string): void {
    const known = this.live.get(identity);
    if (!client.unlisted.delete(identity) || known === undefined) return;
    for (const said of presentFrames(shown(known), this.#clock.now())) client.offer(new Outgoing(said));
  }

  /** Collects the jobs that come to life from now on, until it is told to stop. */
  collectActivated(): { readonly identities: Set<string>; stop(): void } {
    const identities = new Set<string>();
    this.#listings.add(identities);
    return { identities, stop: () => void this.#listings.delete(identities) };
  }

  /** Makes frames of all that waits, but for no longer than that. */
  flush(boundMs: number): void {
    this.#work(boundMs);
    this.#skipAll();
  }

  #observe(observation: Observation): void {
    if (!this.isWatched) {
      this.#keep(observation);
      return;
    }
    if (this.#waiting.length - this.#at >= HUB_LIMITS.waiting) this.#skipAll();
    this.#waiting.push(observation);
    this.#came += 1;
    this.#scheduled ??= setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = null;
    if (!this.#givesWay()) this.#work(HUB_LIMITS.sliceMs);
    if (this.#at < this.#waiting.length) this.#scheduled = this.#clock.after(HUB_LIMITS.pauseMs, this.#turn);
  };

  /** Whether the supervisor has the loop to itself for now. */
  #givesWay(): boolean {
    const isBurst = this.#came > HUB_LIMITS.burst;
    this.#came = 0;
    if (!isBurst) {
      this.#givesWaySinceMs = null;
      return false;
    }
    const nowMs = this.#clock.monotonicMs();
    this.#givesWaySinceMs ??= nowMs;
    return nowMs - this.#givesWaySinceMs < HUB_LIMITS.giveWayMs;
  }

  #work(boundMs: number): void {
    const untilMs = this.#clock.monotonicMs() + boundMs;
    while (this.#at < this.#waiting.length && this.#clock.monotonicMs() < untilMs) {
      const next = this.#waiting[this.#at];
      this.#at += 1;
      if (next !== undefined) this.#tell(next);
    }
    if (this.#at < this.#waiting.length) return;
    this.#waiting = [];
    this.#at = 0;
  }

  /** Too much waits, or nobody is there: what lives is kept right, and clients are told how much they miss. */
  #skipAll(): void {
    const skipped = this.#waiting.slice(this.#at);
    this.#waiting = [];
    this.#at = 0;
    for (const observation of skipped) this.#keep(observation);
    if (skipped.length === 0) return;
    for (const client of this.#clients) client.missed(skipped.length);
  }

  #tell(observation: Observation): void {
    const interested = [...this.#clients].filter((client) => isFor(client, observation));
    if (observation.type !== "activated" && observation.type !== "greeted") this.#listBefore(observation, interested);
    const frames = interested.length === 0 ? [] : this.#framesOf(observation);
    this.#keep(observation);
    for (const said of frames) {
      const outgoing = new Outgoing(said);
      for (const client of interested) client.offer(outgoing);
    }
  }

  /** A client hears of an actor before it hears what the actor does. */
  #listBefore(observation: Observation, interested: readonly InspectClient[]): void {
    const identity = identityOf(observation);
    if (identity === null) return;
    for (const client of interested) this.list(client, identity);
  }

  #framesOf(observation: Observation): readonly Said[] {
    switch (observation.type) {
      case "greeted": {
        const { definition, document, wakeAt, now } = observation;
        return [greetedFrame(definition, document, wakeAt, now)];
      }
      case "activated":
        return presentFrames(shown(observation.live), observation.now);
      case "stepped": {
        const { identity, event, taken, now } = observation;
        return steppedFrames({ ...taken, identity, event, definition: publicDefinition(taken.definition) }, now);
      }
      case "passivated": {
        const { identity, wakeAt, now } = observation;
        const known = this.live.get(identity);
        return known === undefined ? [] : [passivatedFrame(shown(known), wakeAt, now)];
      }
      case "said":
        return observation.said;
    }
  }

  #keep(observation: Observation): void {
    switch (observation.type) {
      case "activated":
        this.live.set(observation.live.identity, observation.live);
        for (const client of this.#clients) client.unlisted.delete(observation.live.identity);
        for (const identities of this.#listings) identities.add(observation.live.identity);
        return;
      case "stepped": {
        const { identity, taken } = observation;
        this.live.set(identity, { identity, definition: taken.definition, activation: taken.after });
        return;
      }
      case "passivated":
        this.live.delete(observation.identity);
        return;
      case "greeted":
        for (const identities of this.#listings) identities.add(observation.definition.identity);
        return;
      case "said":
    }
  }
}

function greetedFrame(definition: JobDefinition, document: StateDocument, wakeAt: EpochMs | null, now: EpochMs): Said {
  const { identity, policy } = definition;
  const job = jobSnapshotOf({ document, historyLimit: document.History.length, isSuspended: policy.suspend });
  const shownJob = { job, definition: publicDefinition(definition), undecided: null, isResting: true, wakeAt };
  return restingFrame(identity, jobSnapshot(shownJob), now);
}

function shown({ identity, definition, activation }: KnownJob): LiveJob {
  return { identity, definition: publicDefinition(definition), activation };
}

function identityOf(observation: Observation): string | null {
  switch (observation.type) {
    case "said":
      return null;
    case "activated":
      return observation.live.identity;
    case "greeted":
      return observation.definition.identity;
    default:
      return observation.identity;
  }
}

function isFor({ filter }: InspectClient, observation: Observation): boolean {
  const identity = identityOf(observation);
  return identity === null || wantsIdentity(filter, identity);
}
