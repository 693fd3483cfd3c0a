/**
 * Carries out what concerns processes: gates are made, released and closed, runs are ended and adopted, and what comes of
 * it is told to the jobs as events. It knows which job an attempt belongs to for exactly as long as the job has it.
 */

import type { ErrorCode } from "../../../core/base/errors/registry.js";
import { decide } from "../../../core/decision/decide.js";
import type { CompiledRule } from "../../../core/decision/model.js";
import type { Holder, HolderKind } from "../../../core/state/ending.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { Attempt } from "../../../machines/activation.js";
import { idOf } from "../../../machines/draft.js";
import type { EffectParams } from "../../../machines/effects.js";
import type { ExecutionSnapshot } from "../../../machines/execution.machine.js";
import type { ActivationEvent } from "../../../machines/step.js";
import { isHalted, mayStart } from "../../../machines/supervisor-phase.js";
import type { Phase } from "../../phase.js";
import type { Armed, ArmRequest, Ended, RunnerEvent, Termination } from "../../runner/port.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry, Prearmed } from "../rows/job-entry.js";
import { adoptedOutput, armRequestOf, type RunPlace } from "./arm-request.js";
import { otherNodeOf } from "./away.js";
import type { Desk, Trouble } from "./desk.js";
import { type ArmRefusal, Gates, isRefusal } from "./gates.js";
import { Starts } from "./starts.js";

/** How an attempt began, for the one who asked for it. */
export type AttemptNews =
  | { readonly kind: "started"; readonly pid: number; readonly holder: HolderKind }
  /** `code`: it could not be made ready. */
  | { readonly kind: "failed"; readonly message: string; readonly code?: ErrorCode };

type EndEvent = Extract<ActivationEvent, { readonly type: "EXITED" | "LOST" }>;

interface Owned {
  readonly entry: JobEntry;
  readonly periodId: string;
  holder: Holder | null;
  /** C15: nothing of it is asked or waited for any more. */
  isLost: boolean;
  /** Refused because no start is made any more: it stands where it is, for whoever has the job next, and nobody waits for it. */
  isLeft: boolean;
}

const WAITED_FOR = { isLost: false, isLeft: false };

export class Executor {
  readonly gates: Gates;
  readonly starts: Starts;
  readonly #owned = new Map<string, Owned>();
  readonly #watchers = new Map<string, (news: AttemptNews) => void>();
  readonly #ports: SupervisorPorts;
  readonly #phase: Phase;
  readonly #host: Desk;
  readonly #place: () => RunPlace;

  constructor(ports: SupervisorPorts, phase: Phase, host: Desk, place: () => RunPlace) {
    this.#ports = ports;
    this.#phase = phase;
    this.#host = host;
    this.#place = place;
    this.gates = ports.gates ?? new Gates(ports.runner, () => isHalted(phase.snapshot));
    this.starts = new Starts(ports.clock, host);
    ports.runner.subscribe((event) => this.#hear(event));
  }

  /** Attempts that jobs have here, and gates that were made ahead. */
  get countHere(): number {
    const isHere = ({ holder, isLeft }: Owned): boolean => !isLeft && otherNodeOf(holder, this.#ports) === null;
    return [...this.#owned.values()].filter(isHere).length;
  }

  /** The next news of an attempt; it is told once, whatever becomes of it. */
  watch(attemptId: string, tell: (news: AttemptNews) => void): void {
    this.#watchers.set(attemptId, tell);
  }

  tellWatcher(attemptId: string, news: AttemptNews): void {
    const tell = this.#watchers.get(attemptId);
    this.#watchers.delete(attemptId);
    tell?.(news);
  }

  /** The job has taken a step. */
  follow(entry: JobEntry, before: readonly Attempt[], after: readonly Attempt[]): void {
    if (before === after) return;
    for (const attempt of before) {
      const attemptId = idOf(attempt);
      if (after.some((other) => idOf(other) === attemptId)) continue;
      this.#owned.delete(attemptId);
      this.starts.settled(attemptId);
      this.tellWatcher(attemptId, { kind: "failed", message: "it was given up before it began" });
    }
    for (const { execution } of after) this.own(entry, execution);
  }

  own(entry: JobEntry, { context: { attempt, holder } }: ExecutionSnapshot): void {
    const { attemptId, periodId } = attempt;
    if (!this.#owned.has(attemptId)) this.#owned.set(attemptId, { entry, periodId, holder, ...WAITED_FOR });
  }

  /** `ahead`: the gate that this attempt was given the id of. */
  async arm(entry: JobEntry, params: EffectParams["arm"], ahead: Prearmed | null): Promise<void> {
    const { attemptId } = params;
    this.starts.add(attemptId);
    const prepared = ahead === null ? null : await ahead.made;
    // One that could not be made ahead is tried again, now that it is due.
    const made = prepared === null || isRefusal(prepared) ? await this.#make(entry, params) : prepared;
    const owned = this.#owned.get(attemptId);
    if (owned === undefined) {
      // Given up meanwhile, which is no failure; the job may rest by now, or be gone.
      this.#host.begin(this.closeGate(attemptId));
    } else if (!isRefusal(made)) {
      owned.holder = made.holder;
      this.#host.deliver(entry, { type: "READY", attemptId, holder: made.holder });
    } else this.#refused(entry, params, made);
    if (owned === undefined || isRefusal(made)) this.starts.settled(attemptId);
  }

  #refused(entry: JobEntry, { attemptId, periodId }: EffectParams["arm"], { code, message }: ArmRefusal): void {
    this.tellWatcher(attemptId, { kind: "failed", message, code });
    if (this.#mayMake) {
      this.#host.report(code, message, this.#about(entry, "arm", periodId));
      this.#host.deliver(entry, { type: "FAILED", attemptId, code });
    } else {
      // No start has failed: whoever has the job next judges what was due, from what is on record.
      const owned = this.#owned.get(attemptId);
      if (owned !== undefined) owned.isLeft = true;
    }
  }

  /** The claim is durable, and the machines have said so. */
  async go(entry: JobEntry, { attemptId, latestAt }: EffectParams["go"]): Promise<void> {
    const outcome = await this.#host.track(this.gates.go(attemptId, latestAt));
    this.starts.settled(attemptId);
    const owned = this.#owned.get(attemptId);
    if (outcome === "started") {
      this.tellWatcher(attemptId, startedNews(owned));
      // It changes nothing for the job, and others have their second now.
      this.starts.whenCalm(() => this.#host.deliver(entry, { type: "STARTED", attemptId }));
      return;
    }
    const reason = outcome === "late" ? "late" : "unconfirmed";
    if (reason === "unconfirmed") {
      const message = "the released gate cannot be shown to have run";
      // After what is told of its claim.
      this.starts.whenCalm(() => {
        this.#host.report("start-unconfirmed", message, this.#about(entry, "start", owned?.periodId));
      });
    }
    this.tellWatcher(attemptId, { kind: "failed", message: `the start is ${reason}` });
    this.#host.deliver(entry, { type: "NOT_RUN", attemptId, reason });
  }

  closeGate(attemptId: string): Promise<void> {
    this.starts.settled(attemptId);
    return this.#host.track(this.gates.close(attemptId));
  }

  async terminate(entry: JobEntry, { attemptId, graceMs, reason }: EffectParams["terminate"]): Promise<void> {
    const periodId = this.#owned.get(attemptId)?.periodId;
    const { survivors, wasKilled } = await this.#host.track(this.#end(entry, attemptId, graceMs));
    const owned = this.#owned.get(attemptId);
    const isGone = survivors.length === 0 || owned?.isLost === true;
    if (reason === "replaced") {
      const fields = { attempt_id: attemptId, reason, was_killed: wasKilled, survivors };
      const where = { component: "executor", identity: entry.identity } as const;
      const level = isGone ? "info" : "warn";
      this.#host.emit({ at: this.#ports.clock.now(), event: "replaced", ...where, level, ...period(periodId), fields });
    }
    if (!isGone) {
      const code = reason === "replaced" ? "replace-not-terminated" : "signal-failed";
      const message = this.#stillAlive(owned?.holder, survivors);
      this.#host.report(code, message, this.#about(entry, "terminate", periodId));
    }
    this.#host.deliver(entry, { type: "TERMINATED", attemptId, isGone });
  }

  /** STATE crash recovery: an execution on record is watched again, or closed with an unknown end. */
  async adopt(entry: JobEntry, execution: ExecutionSnapshot): Promise<void> {
    const { attempt, holder } = execution.context;
    if (holder === null) throw new Error(`invariant broken: ${entry.identity} has a run on record that nobody holds`);
    const { attemptId, periodId } = attempt;
    this.own(entry, execution);
    const elsewhere = otherNodeOf(holder, this.#ports);
    const output = adoptedOutput(entry.definition, attempt, this.#place());
    const outcome =
      elsewhere === null ? await this.#ports.runner.adopt({ attemptId, holder, output }) : ("elsewhere" as const);
    const { identity } = entry;
    const where = elsewhere === null ? {} : { node: elsewhere };
    const fields = { attempt_id: attemptId, pid: holder.pid, outcome, ...where };
    const about = { component: "executor", level: "info", identity, periodId } as const;
    this.#host.emit({ at: this.#ports.clock.now(), event: "adopted", ...about, fields });
    // Its end is for that node to tell: a process of ours that has the same number says nothing of it.
    if (outcome === "elsewhere") return;
    this.#host.deliver(entry, outcome === "watching" ? { type: "STARTED", attemptId } : { type: "LOST", attemptId });
  }

  /** Whether anything could be made ahead at all. */
  get hasRoomAhead(): boolean {
    return this.#mayMake && this.gates.hasRoom;
  }

  /** Slots may follow each other so closely that one is always ready: what is due now must find room beside them. */
  canPrepare({ definition: { target }, life, liveAt, prearmed, wakeAt }: JobEntry): boolean {
    const isFree = (life === "resting" || life === "preparing") && prearmed === null;
    if (!isFree || wakeAt === null || !this.#mayMake) return false;
    const kind = target.kind === "http" ? "request" : "process";
    return liveAt === null ? this.gates.hasRoomForSlot(kind) : this.gates.hasRoomFor(kind);
  }

  /** Makes the gate for the live period of a resting job, or for its next slot, ahead of its second. */
  prepare(entry: JobEntry, slot: EffectParams["arm"] | null): Prearmed | null {
    const { wakeAt: forAt } = entry;
    if (forAt === null || !this.canPrepare(entry)) return null;
    const next = entry.liveAt === null ? slot : periodAhead(entry.scope.compiled, entry.liveAt, forAt);
    if (next === null) return null;
    const attemptId = this.#ports.newId();
    const params = { ...next, attemptId };
    const { source, periodId } = params;
    this.#owned.set(attemptId, { entry, periodId, holder: null, ...WAITED_FOR });
    const made = this.#host.track(this.#armed(armRequestOf(entry.definition, params, this.#place())));
    const prearmed: Prearmed = { attemptId, source, periodId, forAt, made, rehearsal: null };
    entry.prearmed = prearmed;
    // A refusal is no news yet: it is tried again, and told, when the period is due.
    const forget = (result: Armed | ArmRefusal): void => {
      if (isRefusal(result) && entry.prearmed === prearmed) this.#letGo(entry, prearmed);
    };
    this.#host.begin(made.then(forget));
    return prearmed;
  }

  /** Closes the gate that was made ahead: what it was made for is not wanted any more. */
  unprepare(entry: JobEntry): void {
    const { prearmed } = entry;
    if (prearmed === null) return;
    this.#letGo(entry, prearmed);
    this.#host.begin(this.closeGate(prearmed.attemptId));
  }

  /** Those of this supervisor's jobs; others may have theirs in the same launcher. */
  async closeGates(): Promise<void> {
    await Promise.all([...this.#owned.keys()].map((attemptId) => this.closeGate(attemptId)));
  }

  /** C15: its node is lost. Should it have to be ended, it counts as gone. */
  giveUp(attemptId: string): void {
    const owned = this.#owned.get(attemptId);
    if (owned !== undefined) owned.isLost = true;
  }

  /** Nothing more is started, whatever was asked for. */
  async shut(): Promise<void> {
    for (const attemptId of [...this.#watchers.keys()]) {
      this.tellWatcher(attemptId, { kind: "failed", message: "the daemon has ended" });
    }
    await this.gates.shut();
  }

  /** No new gate while the daemon is stopping. */
  get #mayMake(): boolean {
    return mayStart(this.#phase.snapshot);
  }

  async #make(entry: JobEntry, params: EffectParams["arm"]): Promise<Armed | ArmRefusal> {
    if (!this.#mayMake) return { code: "launcher-unavailable", message: "the daemon is stopping" };
    return this.#host.track(this.#armed(armRequestOf(entry.definition, params, this.#place())));
  }

  async #armed(request: ArmRequest): Promise<Armed | ArmRefusal> {
    const made = await this.gates.arm(request);
    const { node } = this.#ports;
    return node === undefined || isRefusal(made) ? made : { ...made, holder: { ...made.holder, node } };
  }

  /** S28, C14: a run on another node is ended by that node. */
  async #end({ identity }: JobEntry, attemptId: string, graceMs: number): Promise<Termination> {
    const { holder = null, isLost = false } = this.#owned.get(attemptId) ?? {};
    const node = otherNodeOf(holder, this.#ports);
    if (node === null) return this.#ports.runner.terminate(attemptId, graceMs);
    if (isLost) return { survivors: [], wasKilled: false };
    const ended = await this.#ports.elsewhere?.terminate(node, identity, attemptId, graceMs);
    return ended ?? { survivors: [holder?.pid ?? 0], wasKilled: false };
  }

  #stillAlive(holder: Holder | null | undefined, survivors: readonly number[]): string {
    const node = otherNodeOf(holder, this.#ports);
    if (node === null) return `still alive after KILL: ${survivors.join(", ")}`;
    const isAsked = this.#ports.elsewhere !== undefined;
    return `it runs on the node ${node} ${isAsked ? "and has not ended there" : "and can only be ended there"}`;
  }

  #letGo(entry: JobEntry, { attemptId }: Prearmed): void {
    entry.prearmed = null;
    this.#owned.delete(attemptId);
  }

  #hear(event: RunnerEvent): void {
    if (event.kind === "trouble") {
      this.#host.report(event.code, event.message, { operation: "launch" });
      return;
    }
    const { attemptId } = event;
    const owned = this.#owned.get(attemptId);
    if (event.kind === "gate-lost") {
      this.gates.lost(attemptId);
      this.starts.settled(attemptId);
    }
    if (owned === undefined) return;
    const { entry, periodId } = owned;
    if (event.kind === "ended") {
      // Of a short run the end is heard in the same breath as its beginning: it did begin.
      this.tellWatcher(attemptId, startedNews(owned));
      this.starts.whenCalm(() => this.#ended(entry, event));
    } else if (entry.prearmed?.attemptId === attemptId) this.#letGo(entry, entry.prearmed);
    else {
      this.#host.report("gate-failed", "the gate ended before it was released", this.#about(entry, "arm", periodId));
      this.#host.deliver(entry, { type: "FAILED", attemptId, code: "gate-failed" });
    }
  }

  #ended(entry: JobEntry, { attemptId, ending }: Ended): void {
    this.#host.deliver(entry, endEvent({ attemptId, ending }));
  }

  #about({ identity }: JobEntry, operation: string, periodId: string | undefined): Trouble {
    return { operation, identity, periodId };
  }
}

/** What the machines are told of an end, wherever the run was. */
export function endEvent({ attemptId, ending }: Pick<Ended, "attemptId" | "ending">): EndEvent {
  return ending.kind === "unseen" ? { type: "LOST", attemptId } : { type: "EXITED", attemptId, ending };
}

function startedNews(owned: Owned | undefined): AttemptNews {
  const { pid = 0, kind = "process" } = owned?.holder ?? {};
  return { kind: "started", pid, holder: kind };
}

function period(periodId: string | undefined): { readonly periodId?: string } {
  return periodId === undefined ? {} : { periodId };
}

/** null: it is not to be started then; or it cannot be computed: whoever needs it when it is due says so, and tries again (S18). */
function periodAhead(
  compiled: CompiledRule,
  nominalAt: EpochMs,
  forAt: EpochMs,
): Omit<EffectParams["arm"], "attemptId"> | null {
  try {
    const { periodId, chosenAt } = decide(compiled, nominalAt);
    return chosenAt === forAt ? { source: null, periodId, slotAt: nominalAt, chosenAt } : null;
  } catch {
    return null;
  }
}
