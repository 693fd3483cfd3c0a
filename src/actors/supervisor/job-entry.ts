/**
 * One identity as the supervisor holds it. At rest it is its definition, a handle in the timeline and the live period's
 * nominal time; while anything is under way it has an activation.
 */
import type { Settings } from "../../core/config/settings.js";
import { compileRule } from "../../core/decision/compile.js";
import { sha256Hex } from "../../core/decision/seed.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { canonicalDefinitionText, canonicalRuleText } from "../../core/job/schema.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Activation, JobScope } from "../../machines/activation.js";
import type { ActivationEvent } from "../../machines/step.js";
import type { Armed } from "../launcher/port.js";
import type { TimelineHandle } from "../timeline.js";
import type { ArmRefusal } from "./gates.js";

/** A gate made ahead of its second, for exactly this period (S23). */
export interface Prearmed {
  readonly attemptId: string;
  readonly periodId: string;
  readonly made: Promise<Armed | ArmRefusal>;
}

/** What is to happen to the job next. The event is made when its turn comes: only then is it known what is in force. */
export interface Message {
  /** Called when its turn has come, with the job live. */
  readonly event: (entry: JobEntry, now: EpochMs) => ActivationEvent;
  /** The tick's instant (S2); null: the clock's, when it is handled. */
  readonly now: EpochMs | null;
  /** For what it starts; without it a fresh one is drawn. */
  readonly attemptId?: string;
  /** It was taken, and what it changed is durable. */
  readonly onTaken?: () => void;
}

export interface JobEntry {
  readonly identity: string;
  readonly handle: TimelineHandle;
  definition: JobDefinition;
  scope: JobScope;
  activation: Activation | null;
  successorDueAt: EpochMs | null;
  /** Nominal time of the live period while the job rests. */
  liveAt: EpochMs | null;
  /** When the clock next changes something; the timeline may call earlier, to prepare. */
  wakeAt: EpochMs | null;
  prearmed: Prearmed | null;
  /** S13: time was lost or moved since it was looked at last; whatever it hears next, it looks at where it is first. */
  mustReturn: boolean;
  readonly inbox: Message[];
  isBusy: boolean;
  /** Gone from the configuration, and watched only until what it started has ended (S16). */
  isRemoved: boolean;
}

export function scopeOf(definition: JobDefinition, settings: Settings): JobScope {
  return {
    compiled: compileRule(definition),
    policy: definition.policy,
    timeoutMs: definition.target.timeoutMs,
    startGraceMs: settings.startGraceMs,
    killGraceMs: settings.killGraceMs,
    historyLimit: settings.history.keep,
  };
}

export function newEntry(definition: JobDefinition, settings: Settings, handle: TimelineHandle): JobEntry {
  return {
    identity: definition.identity,
    handle,
    definition,
    scope: scopeOf(definition, settings),
    activation: null,
    successorDueAt: null,
    liveAt: null,
    wakeAt: null,
    prearmed: null,
    mustReturn: false,
    inbox: [],
    isBusy: false,
    isRemoved: false,
  };
}

/** Names the scheduling rule: another hash is another birth of the definition (S14). */
export function ruleHashOf(definition: JobDefinition): string {
  return sha256Hex(canonicalRuleText(definition));
}

export function isSameDefinition(one: JobDefinition, other: JobDefinition): boolean {
  return canonicalDefinitionText(one) === canonicalDefinitionText(other);
}
