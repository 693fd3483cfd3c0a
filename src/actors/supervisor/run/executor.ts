/**
 * Carries out what concerns processes: gates are made, released and closed, runs are ended and adopted, and what comes of
 * it is told to the jobs as events. It knows which job an attempt belongs to for exactly as long as the job has it.
 */

import { decide } from "../../../core/decision/decide.js";
import type { CompiledRule, Decision } from "../../../core/decision/model.js";
import type { Holder, HolderKind } from "../../../core/state/ending.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { Attempt } from "../../../machines/activation.js";
import type { EffectParams } from "../../../machines/effects.js";
import type { ExecutionSnapshot } from "../../../machines/execution.machine.js";
import { isHalted, mayStart } from "../../../machines/supervisor-phase.js";
import type { Phase } from "../../phase.js";
import type { Armed, ArmRequest, Ended, RunnerEvent } from "../../runner/port.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry, Prearmed } from "../rows/job-entry.js";
import { adoptedOutput, armRequestOf, type RunPlace } from "./arm-request.js";
import type { Desk, Trouble } from "./desk.js";
import { type ArmRefusal, Gates, isRefusal } from "./gates.js";
import { Starts } from "./starts.js";

/** How an attempt began, for the one who asked for it. */
export type AttemptNews =
  | { readonly kind: "started"; readonly pid: number; readonly holder: HolderKind }
  | { readonly kind: "failed"; readonly message: string };

interface Owned {
  readonly entry: JobEntry;
  readonly periodId: string;
  holder: Holder | null;
}

export class Executor {
  readonly gates: Gates;
  readonly starts: Starts;
  private readonly owned = new Map<string, Owned>();
  private readonly watchers = new Map<string, (news: AttemptNews) => void>();

  constructor(
    private readonly ports: SupervisorPorts,
    private readonly phase: Phase,
    private readonly host: Desk,
    private readonly place: () => RunPlace,
  ) {
    this.gates = ports.gates ?? new Gates(ports.runner, () => isHalted(phase.snapshot));
    this.starts = new Starts(ports.clock, host);
    ports.runner.subscribe((event) => this.hear(event));
  }

  /** Attempts that jobs have, and gates that were made ahead. */
  get ownedCount(): number {
    return this.owned.size;
  }

  /** The next news of an attempt; it is told once, whatever becomes of it. */
  watch(attemptId: string, tell: (news: AttemptNews) => void): void {
    this.watchers.set(attemptId, tell);
  }

  tellWatcher(attemptId: string, news: AttemptNews): void {
    const tell = this.watchers.get(attemptId);
    this.watchers.delete(attemptId);
    tell?.(news);
  }

  /** The job has taken a step. */
  follow(entry: JobEntry, before: readonly Attempt[], after: readonly Attempt[]): void {
    if (before === after) return;
    for (const attempt of before) {
      const attemptId = idOf(attempt);
      if (after.some((other) => idOf(other) === attemptId)) continue;
      this.owned.delete(attemptId);
      this.starts.settled(attemptId);
      this.tellWatcher(attemptId, { kind: "failed", message: "it was given up before it began" });
    }
    for (const { execution } of after) this.own(entry, execution);
  }

  own(entry: JobEntry, { context: { attempt, holder } }: ExecutionSnapshot): void {
    const { attemptId, periodId } = attempt;
    if (!this.owned.has(attemptId)) this.owned.set(attemptId, { entry, periodId, holder });
  }

  /** `ahead`: the gate that this attempt was given the id of. */
  async arm(entry: JobEntry, params: EffectParams["arm"], ahead: Prearmed | null): Promise<void> {
    const { attemptId, periodId } = params;
    this.starts.add(attemptId);
    const prepared = ahead === null ? null : await ahead.made;
    // One that could not be made ahead is tried again, now that it is due.
    const made = prepared === null || isRefusal(prepared) ? await this.make(entry, params) : prepared;
    const owned = this.owned.get(attemptId);
    if (owned === undefined) {
      // Given up meanwhile, which is no failure; the job may rest by now, or be gone.
      this.host.begin(this.closeGate(attemptId));
    } else if (!isRefusal(made)) {
      owned.holder = made.holder;
      this.host.deliver(entry, { type: "READY", attemptId, holder: made.holder });
    } else {
      if (this.mayMake) this.host.report(made.code, made.message, this.about(entry, "arm", periodId));
      this.tellWatcher(attemptId, { kind: "failed", message: made.message });
      this.host.deliver(entry, { type: "FAILED", attemptId, code: made.code });
    }
    if (owned === undefined || isRefusal(made)) this.starts.settled(attemptId);
  }

  /** The claim is durable, and the machines have said so. */
  async go(entry: JobEntry, { attemptId, latestAt }: EffectParams["go"]): Promise<void> {
    const outcome = await this.host.track(this.gates.go(attemptId, latestAt));
    this.starts.settled(attemptId);
    const owned = this.owned.get(attemptId);
    if (outcome === "started") {
      this.tellWatcher(attemptId, startedNews(owned));
      this.host.deliver(entry, { type: "STARTED", attemptId });
      return;
    }
    const reason = outcome === "late" ? "late" : "unconfirmed";
    if (reason === "unconfirmed") {
      const message = "the released gate cannot be shown to have run";
      // After what is told of its claim.
      this.starts.whenCalm(() => {
        this.host.report("start-unconfirmed", message, this.about(entry, "start", owned?.periodId));
      });
    }
    this.tellWatcher(attemptId, { kind: "failed", message: `the start is ${reason}` });
    this.host.deliver(entry, { type: "NOT_RUN", attemptId, reason });
  }

  closeGate(attemptId: string): Promise<void> {
    this.starts.settled(attemptId);
    return this.host.track(this.gates.close(attemptId));
  }

  async terminate(entry: JobEntry, { attemptId, graceMs, reason }: EffectParams["terminate"]): Promise<void> {
    const owned = this.owned.get(attemptId);
    const periodId = owned?.periodId;
    const elsewhere = this.otherNodeOf(owned?.holder);
    const { survivors, wasKilled } =
      elsewhere === null
        ? await this.host.track(this.ports.runner.terminate(attemptId, graceMs))
        : { survivors: [owned?.holder?.pid ?? 0], wasKilled: false };
    const isGone = survivors.length === 0;
    if (reason === "replaced") {
      const fields = { attempt_id: attemptId, reason, was_killed: wasKilled, survivors };
      const where = { component: "executor", identity: entry.identity } as const;
      const level = isGone ? "info" : "warn";
      this.host.emit({ at: this.ports.clock.now(), event: "replaced", ...where, level, ...period(periodId), fields });
    }
    if (!isGone) {
      const code = reason === "replaced" ? "replace-not-terminated" : "signal-failed";
      const still = `still alive after KILL: ${survivors.join(", ")}`;
      const message = elsewhere === null ? still : `it runs on the node ${elsewhere} and can only be ended there`;
      this.host.report(code, message, this.about(entry, "terminate", periodId));
    }
    this.host.deliver(entry, { type: "TERMINATED", attemptId, isGone });
  }

  /** STATE crash recovery: an execution on record is watched again, or closed with an unknown end. */
  async adopt(entry: JobEntry, execution: ExecutionSnapshot): Promise<void> {
    const { attempt, holder } = execution.context;
    if (holder === null) throw new Error(`invariant broken: ${entry.identity} has a run on record that nobody holds`);
    const { attemptId, periodId } = attempt;
    this.own(entry, execution);
    const elsewhere = this.otherNodeOf(holder);
    const output = adoptedOutput(entry.definition, attempt, this.place());
    const outcome =
      elsewhere === null ? await this.ports.runner.adopt({ attemptId, holder, output }) : ("elsewhere" as const);
    const { identity } = entry;
    const where = elsewhere === null ? {} : { node: elsewhere };
    const fields = { attempt_id: attemptId, pid: holder.pid, outcome, ...where };
    const about = { component: "executor", level: "info", identity, periodId } as const;
    this.host.emit({ at: this.ports.clock.now(), event: "adopted", ...about, fields });
    // Its end is for that node to tell: a process of ours that has the same number says nothing of it.
    if (outcome === "elsewhere") return;
    this.host.deliver(entry, outcome === "watching" ? { type: "STARTED", attemptId } : { type: "LOST", attemptId });
  }

  /** Whether anything could be made ahead at all. */
  get hasRoomAhead(): boolean {
    return this.mayMake && this.gates.hasRoom;
  }

  private hasRoomFor({ definition: { target } }: JobEntry): boolean {
    return this.mayMake && this.gates.hasRoomFor(target.kind === "http" ? "request" : "process");
  }

  /** Makes the gate for the live period of a resting job ahead of its second. */
  prepare(entry: JobEntry): Prearmed | null {
    const { liveAt, scope, wakeAt } = entry;
    const isFree = (entry.life === "resting" || entry.life === "preparing") && entry.prearmed === null;
    if (!isFree || liveAt === null || wakeAt === null || !this.hasRoomFor(entry)) return null;
    const decision = decisionAhead(scope.compiled, liveAt);
    if (decision === null || decision.chosenAt === null || decision.chosenAt !== wakeAt) return null;
    const { periodId, chosenAt } = decision;
    const attemptId = this.ports.newId();
    const params = { attemptId, source: null, periodId, slotAt: liveAt, chosenAt };
    this.owned.set(attemptId, { entry, periodId, holder: null });
    const made = this.host.track(this.armed(armRequestOf(entry.definition, params, this.place())));
    const prearmed: Prearmed = { attemptId, periodId, made, rehearsal: null };
    entry.prearmed = prearmed;
    // A refusal is no news yet: it is tried again, and told, when the period is due.
    const forget = (result: Armed | ArmRefusal): void => {
      if (isRefusal(result) && entry.prearmed === prearmed) this.letGo(entry, prearmed);
    };
    this.host.begin(made.then(forget));
    return prearmed;
  }

  /** Closes the gate that was made ahead: what it was made for is not wanted any more. */
  unprepare(entry: JobEntry): void {
    const { prearmed } = entry;
    if (prearmed === null) return;
    this.letGo(entry, prearmed);
    this.host.begin(this.closeGate(prearmed.attemptId));
  }

  /** Those of this supervisor's jobs; others may have theirs in the same launcher. */
  async closeGates(): Promise<void> {
    await Promise.all([...this.owned.keys()].map((attemptId) => this.closeGate(attemptId)));
  }

  /** Nothing more is started, whatever was asked for. */
  async shut(): Promise<void> {
    for (const attemptId of [...this.watchers.keys()]) {
      this.tellWatcher(attemptId, { kind: "failed", message: "the daemon has ended" });
    }
    await this.gates.shut();
  }

  /** No new gate while the daemon is stopping. */
  private get mayMake(): boolean {
    return mayStart(this.phase.snapshot);
  }

  private async make(entry: JobEntry, params: EffectParams["arm"]): Promise<Armed | ArmRefusal> {
    if (!this.mayMake) return { code: "launcher-unavailable", message: "the daemon is stopping" };
    return this.host.track(this.armed(armRequestOf(entry.definition, params, this.place())));
  }

  private async armed(request: ArmRequest): Promise<Armed | ArmRefusal> {
    const made = await this.gates.arm(request);
    const { node } = this.ports;
    return node === undefined || isRefusal(made) ? made : { ...made, holder: { ...made.holder, node } };
  }

  /** The node on which it runs, if that is not this one: from here it can neither be seen nor ended. */
  private otherNodeOf(holder: Holder | null | undefined): string | null {
    const node = holder?.node ?? null;
    return node === this.ports.node ? null : node;
  }

  private letGo(entry: JobEntry, { attemptId }: Prearmed): void {
    entry.prearmed = null;
    this.owned.delete(attemptId);
  }

  private hear(event: RunnerEvent): void {
    if (event.kind === "trouble") {
      this.host.report(event.code, event.message, { operation: "launch" });
      return;
    }
    const { attemptId } = event;
    const owned = this.owned.get(attemptId);
    if (event.kind === "gate-lost") {
      this.gates.lost(attemptId);
      this.starts.settled(attemptId);
    }
    if (owned === undefined) return;
    const { entry, periodId } = owned;
    if (event.kind === "ended") {
      // Of a short run the end is heard in the same breath as its beginning: it did begin.
      this.tellWatcher(attemptId, startedNews(owned));
      this.starts.whenCalm(() => this.ended(entry, event));
    } else if (entry.prearmed?.attemptId === attemptId) this.letGo(entry, entry.prearmed);
    else {
      this.host.report("gate-failed", "the gate ended before it was released", this.about(entry, "arm", periodId));
      this.host.deliver(entry, { type: "FAILED", attemptId, code: "gate-failed" });
    }
  }

  private ended(entry: JobEntry, { attemptId, ending }: Ended): void {
    const isSeen = ending.kind !== "unseen";
    this.host.deliver(entry, isSeen ? { type: "EXITED", attemptId, ending } : { type: "LOST", attemptId });
  }

  private about({ identity }: JobEntry, operation: string, periodId: string | undefined): Trouble {
    return { operation, identity, periodId };
  }
}

function startedNews(owned: Owned | undefined): AttemptNews {
  const { pid = 0, kind = "process" } = owned?.holder ?? {};
  return { kind: "started", pid, holder: kind };
}

function idOf({ execution }: Attempt): string {
  return execution.context.attempt.attemptId;
}

function period(periodId: string | undefined): { readonly periodId?: string } {
  return periodId === undefined ? {} : { periodId };
}

/** null: it cannot be computed. Whoever needs it when it is due says so, and tries again (S18). */
function decisionAhead(compiled: CompiledRule, nominalAt: EpochMs): Decision | null {
  try {
    return decide(compiled, nominalAt);
  } catch {
    return null;
  }
}
