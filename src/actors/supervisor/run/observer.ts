/**
 * Who looks on while jobs live: told of each actor that comes to life, of each event it takes with the state that comes
 * of it, and of its rest. Looking on changes nothing, and costs nothing while nobody does.
 */
import type { JobDefinition } from "../../../core/job/definition.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { Activation } from "../../../machines/activation.js";
import type { OutwardEffect } from "../../../machines/effects.js";
import type { ActivationEvent } from "../../../machines/step.js";

export interface SupervisorObserver {
  /** Whether every step is to be seen when it is taken; otherwise some are taken ahead, and only what comes of them is told. */
  readonly isWatched: boolean;
  /** A resting job was brought to life, from its document or by a claim that was worked out ahead. */
  activated(definition: JobDefinition, activation: Activation, now: EpochMs): void;
  stepped(identity: string, event: ActivationEvent, taken: ObservedStep, now: EpochMs): void;
  /** Nothing is under way any more: its document and its place in the timeline are all that is left. */
  passivated(identity: string, wakeAt: EpochMs | null): void;
}

export interface ObservedStep {
  readonly before: Activation;
  readonly after: Activation;
  readonly effects: readonly OutwardEffect[];
  /** The one that is in force after the step. */
  readonly definition: JobDefinition;
}

/** A place at the window: whoever looks on takes it, and leaves it empty again. */
export interface ObserverSlot {
  current: SupervisorObserver | null;
}
