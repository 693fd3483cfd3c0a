/**
 * Who looks on while jobs live: told of each actor that comes to life, of each event it takes with the state that comes
 * of it, and of its rest. Looking on changes nothing, and costs nothing while nobody does.
 */
import type { JobDefinition } from "../../../core/job/definition.js";
import type { StateDocument } from "../../../core/state/document.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { Activation } from "../../../machines/activation.js";
import type { Ended } from "../../../machines/draft.js";
import type { ActivationEvent } from "../../../machines/step.js";

export interface SupervisorObserver {
  /** A job was seen for the first time, and rests: that took no step. */
  greeted(definition: JobDefinition, document: StateDocument, wakeAt: EpochMs | null, now: EpochMs): void;
  /** A resting job was brought to life, from its document. */
  activated(definition: JobDefinition, activation: Activation, now: EpochMs): void;
  /** Also of a step that was taken on paper, as soon as it counts. */
  stepped(identity: string, event: ActivationEvent, taken: ObservedStep, now: EpochMs): void;
  /** Nothing is under way any more: its document and its place in the timeline are all that is left. */
  passivated(identity: string, wakeAt: EpochMs | null): void;
}

export interface ObservedStep {
  readonly before: Activation;
  readonly after: Activation;
  readonly ended: Ended;
  /** The one that is in force after the step. */
  readonly definition: JobDefinition;
}

/** A place at the window: whoever looks on takes it, and leaves it empty again. */
export interface ObserverSlot {
  current: SupervisorObserver | null;
}
