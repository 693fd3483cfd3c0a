/**
 * What is in memory of one identity while anything concerns it: its definition as far as it was read, what is live of it,
 * the gate that was made ahead. A job at rest has none of this; it is a row (`JobRows`) and what the store knows. An entry
 * begins with the first message and is dropped when nothing is under way any more.
 */
import type { Settings } from "../../../core/config/settings.js";
import { compileRule } from "../../../core/decision/compile.js";
import type { CompiledRule } from "../../../core/decision/model.js";
import { sha256Hex } from "../../../core/decision/seed.js";
import type { ContentHash } from "../../../core/job/content-hash.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { canonicalRuleText } from "../../../core/job/schema.js";
import type { CronOccasion } from "../../../core/period/occasion.js";
import { expectedBy, glanceOf, packGlance } from "../../../core/restart/glance.js";
import type { StateDocument } from "../../../core/state/document.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { Activation, JobScope } from "../../../machines/activation.js";
import type { GateAhead } from "../../../machines/draft.js";
import type { ActivationEvent } from "../../../machines/step.js";
import type { Armed } from "../../runner/port.js";
import type { TimelineHandle } from "../../timeline.js";
import type { ArmRefusal } from "../run/gates.js";
import type { Rehearsal } from "../run/rehearsal.js";
import type { Contribution } from "../write/committer.js";
import type { JobRows } from "./job-rows.js";

/** A gate made ahead of its second. */
export interface Prearmed extends GateAhead {
  /** The second it was made for. */
  readonly forAt: EpochMs;
  readonly made: Promise<Armed | ArmRefusal>;
  /** null: not yet, or not any more. */
  rehearsal: Rehearsal | null;
}

/** What is to happen to the job next. The event is made when its turn comes: only then is it known what is in force. */
export interface Message {
  /** Called when its turn has come, with the job live. */
  readonly event: (entry: JobEntry, now: EpochMs) => ActivationEvent;
  /** The tick's instant (S2); null: the clock's, when it is handled. */
  readonly now: EpochMs | null;
  /** For what it starts; without it a fresh one is drawn. */
  readonly attemptId?: string;
  /** Becomes durable together with what the event changes. */
  readonly along?: Contribution;
  /** It was taken, and what it changed is durable. */
  readonly onTaken?: () => void;
}

/**
 * - `resting`: nothing concerns it; it may be dropped.
 * - `preparing`: something is made ready ahead of its second.
 * - `live`: it has an activation, and waits for what is told of it.
 * - `busy`: it is taking a message, or waits until what it has claimed is durable; messages wait.
 * - `dropped`: nobody may use it any more: the job has rested since, and another entry may have taken its place.
 */
type JobLife = "resting" | "preparing" | "live" | "busy" | "dropped";

interface GlanceSubject {
  readonly definition: JobDefinition;
  readonly compiled: CompiledRule;
  readonly document: StateDocument;
  /** The live period. */
  readonly live: CronOccasion | null;
}

interface Loaded {
  readonly definition: JobDefinition;
  readonly scope: JobScope;
}

export class JobEntry {
  readonly identity: string;
  readonly handle: TimelineHandle;
  successorDueAt: EpochMs | null = null;
  /** What has to become durable with the next write. */
  along: Contribution | null = null;
  /** How many messages it has begun to take: what was read of the job before one of them may not be true any more. */
  heard = 0;
  readonly #rows: JobRows;
  #life: JobLife = "resting";
  #activation: Activation | null = null;
  #prearmed: Prearmed | null = null;
  /** What is being prepared at the moment. */
  #preparations = 0;
  #loaded: Loaded | null = null;

  constructor(identity: string, handle: TimelineHandle, rows: JobRows) {
    this.identity = identity;
    this.handle = handle;
    this.#rows = rows;
  }

  get life(): JobLife {
    return this.#life;
  }

  get activation(): Activation | null {
    return this.#activation;
  }

  set activation(activation: Activation | null) {
    this.#activation = activation;
    this.#lookAtLife();
  }

  get prearmed(): Prearmed | null {
    return this.#prearmed;
  }

  set prearmed(prearmed: Prearmed | null) {
    this.#prearmed = prearmed;
    this.#lookAtLife();
  }

  /** Messages wait from here on. */
  engage(): void {
    this.#life = "busy";
  }

  /** Nothing is being taken any more. */
  disengage(): void {
    this.#life = "live";
    this.#lookAtLife();
  }

  prepares(by: 1 | -1): void {
    this.#preparations += by;
    this.#lookAtLife();
  }

  drop(): void {
    this.#life = "dropped";
  }

  get isLoaded(): boolean {
    return this.#loaded !== null;
  }

  get definition(): JobDefinition {
    return this.#known.definition;
  }

  get scope(): JobScope {
    return this.#known.scope;
  }

  /** From here on this definition is the one in force. */
  use(definition: JobDefinition, settings: Settings): void {
    this.#loaded = { definition, scope: scopeOf(definition, settings) };
    this.#forgetRehearsal();
  }

  useSettings(settings: Settings): void {
    if (this.#loaded !== null) this.use(this.#loaded.definition, settings);
  }

  /** Called before every message is taken. */
  hear(): void {
    this.heard += 1;
    this.#forgetRehearsal();
  }

  get liveAt(): EpochMs | null {
    return this.#rows.liveAt(this.handle);
  }

  set liveAt(at: EpochMs | null) {
    this.#rows.setLiveAt(this.handle, at);
  }

  /** When the clock next changes something; the timeline may call earlier, to prepare. */
  get wakeAt(): EpochMs | null {
    return this.#rows.wakeAt(this.handle);
  }

  set wakeAt(at: EpochMs | null) {
    this.#rows.setWakeAt(this.handle, at);
  }

  /** Lists are searched and sorted by what it is now. What cannot be decided says so to whoever reads the job (S18). */
  glance({ definition, compiled, document, live }: GlanceSubject, now: EpochMs): void {
    const { suspend: isSuspended, deadlineMs, stop } = definition.policy;
    const held = { isSuspended, isRemoved: this.isRemoved, stopAt: stop?.at ?? null };
    const rule = { compiled, ...held, deadlineMs, live };
    const { index } = this.#rows;
    try {
      index.set(this.handle, packGlance(glanceOf(rule, document, expectedBy(definition), now)));
    } catch {
      index.clear(this.handle);
    }
  }

  get mustReturn(): boolean {
    return this.#rows.mustReturn(this.handle);
  }

  set mustReturn(mustReturn: boolean) {
    this.#rows.setMustReturn(this.handle, mustReturn);
  }

  /** Of the definition in force: a reload that finds another tells the job. */
  set content(hash: ContentHash) {
    this.#rows.setContent(this.handle, hash);
  }

  get isUntold(): boolean {
    return this.#rows.isUntold(this.handle);
  }

  set isUntold(isUntold: boolean) {
    this.#rows.setUntold(this.handle, isUntold);
  }

  get isRemoved(): boolean {
    return this.#rows.isRemoved(this.handle);
  }

  set isRemoved(isRemoved: boolean) {
    this.#rows.setRemoved(this.handle, isRemoved);
  }

  /** What takes no message is live, or being prepared, or rests. */
  #lookAtLife(): void {
    if (this.#life === "busy" || this.#life === "dropped") return;
    const isPreparing = this.#preparations > 0 || this.#prearmed !== null;
    this.#life = this.#activation !== null ? "live" : isPreparing ? "preparing" : "resting";
  }

  #forgetRehearsal(): void {
    if (this.#prearmed !== null) this.#prearmed.rehearsal = null;
  }

  get #known(): Loaded {
    if (this.#loaded === null) throw new Error(`invariant broken: the definition of ${this.identity} was not read`);
    return this.#loaded;
  }
}

export function scopeOf(definition: JobDefinition, settings: Settings): JobScope {
  return {
    compiled: compileRule(definition),
    policy: definition.policy,
    // A request has its own clock, over every part of it.
    timeoutMs: definition.target.kind === "process" ? definition.target.timeoutMs : null,
    startGraceMs: settings.startGraceMs,
    killGraceMs: settings.killGraceMs,
    historyLimit: settings.history.keep,
  };
}

/** Names the scheduling rule: another hash is another birth of the definition (S14). */
export function ruleHashOf(definition: JobDefinition): string {
  return sha256Hex(canonicalRuleText(definition));
}
