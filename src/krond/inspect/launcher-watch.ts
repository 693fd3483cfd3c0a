/**
 * The launcher as an actor: a wrapper that tells what the launcher is asked for and what comes of it, and changes
 * nothing. Requests hold commands and environments; of them only names and numbers are told.
 */
import { ForwardingRunner } from "../../actors/runner/forwarding-runner.js";
import type {
  AdoptOutcome,
  AdoptRequest,
  Armed,
  ArmFailure,
  ArmRequest,
  GoOutcome,
  Runner,
  RunnerEvent,
  Termination,
} from "../../actors/runner/port.js";
import type { Result } from "../../core/base/result.js";
import { withoutExcerpt } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import { redactedText } from "../../operations/redaction.js";
import { CHARTS } from "./charts.js";
import {
  actorFrame,
  eventFrame,
  type FrameEvent,
  instantText,
  LAUNCHER,
  type PublicSnapshot,
  type Said,
  SUPERVISOR,
  snapshotFrame,
  snapshotOf,
} from "./frames.js";

interface LauncherAudience {
  readonly isWatched: boolean;
  say(said: readonly Said[]): void;
}

/** Matches no pattern but those that match everything: of a run of an earlier daemon only its attempt is known. */
const UNKNOWN = "";

export class LauncherWatch extends ForwardingRunner {
  /** By attempt: whose it is. */
  readonly #gates = new Map<string, string>();
  readonly #runs = new Map<string, string>();
  readonly #stop: () => void;
  readonly #audience: LauncherAudience;
  readonly #now: () => EpochMs;

  constructor(runner: Runner, audience: LauncherAudience, now: () => EpochMs) {
    super(runner);
    this.#audience = audience;
    this.#now = now;
    this.#stop = runner.subscribe((event) => this.#heard(event));
  }

  override async arm(request: ArmRequest): Promise<Result<Armed, ArmFailure>> {
    const { attemptId, kind } = request;
    const isProcess = kind === "process";
    const identity = (isProcess ? request.env["KRON_IDENTITY"] : request.identity) ?? UNKNOWN;
    this.#gates.set(attemptId, identity);
    this.#tell(identity, { type: "ARM", attemptId, identity, ...(isProcess ? { user: request.user } : { kind }) });
    const armed = await super.arm(request);
    if (armed.ok) {
      this.#tell(identity, { type: "ARMED", attemptId, pid: armed.value.holder.pid }, attemptId);
    } else {
      this.#gates.delete(attemptId);
      this.#tell(identity, { type: "ARM_FAILED", attemptId, code: armed.error.code }, attemptId);
    }
    return armed;
  }

  override async go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const { attemptId } = armed;
    const identity = this.#ownerOf(attemptId);
    this.#gates.delete(attemptId);
    this.#runs.set(attemptId, identity);
    this.#tell(identity, { type: "GO", attemptId, latestAt: instantText(latestAt) });
    const outcome = await super.go(armed, latestAt);
    if (outcome !== "started") this.#runs.delete(attemptId);
    this.#tell(identity, { type: "WENT", attemptId, outcome }, attemptId);
    return outcome;
  }

  override async abort(armed: Armed): Promise<void> {
    const { attemptId } = armed;
    const identity = this.#ownerOf(attemptId);
    this.#gates.delete(attemptId);
    this.#tell(identity, { type: "ABORT", attemptId });
    await super.abort(armed);
  }

  override async adopt(request: AdoptRequest): Promise<AdoptOutcome> {
    const { attemptId, holder } = request;
    this.#tell(UNKNOWN, { type: "ADOPT", attemptId, pid: holder.pid });
    const outcome = await super.adopt(request);
    if (outcome === "watching") this.#runs.set(attemptId, UNKNOWN);
    this.#tell(UNKNOWN, { type: "ADOPTED", attemptId, outcome }, attemptId);
    return outcome;
  }

  override async terminate(attemptId: string, graceMs: number): Promise<Termination> {
    const identity = this.#ownerOf(attemptId);
    this.#tell(identity, { type: "TERMINATE", attemptId, graceMs });
    const termination = await super.terminate(attemptId, graceMs);
    this.#tell(identity, { type: "TERMINATED", attemptId, ...termination }, attemptId);
    return termination;
  }

  override close(): Promise<void> {
    this.#stop();
    return super.close();
  }

  /** For a client that has just come. */
  present(): Said {
    const about = { name: LAUNCHER, sessionId: LAUNCHER, parentId: SUPERVISOR };
    const frame = actorFrame({ ...about, definition: CHARTS.launcher, snapshot: this.#snapshot() }, this.#now());
    return { kind: "launcher", identity: null, frame };
  }

  #heard(event: RunnerEvent): void {
    if (event.kind === "trouble") {
      const { code, message } = event;
      this.#tell(null, { type: "TROUBLE", code, message: redactedText(message) }, LAUNCHER);
      return;
    }
    const { attemptId } = event;
    const identity = this.#ownerOf(attemptId);
    this.#gates.delete(attemptId);
    this.#runs.delete(attemptId);
    if (event.kind === "gate-lost") {
      this.#tell(identity, { type: "GATE_LOST", attemptId }, attemptId);
      return;
    }
    const { pid, ending } = event;
    this.#tell(identity, { type: "EXITED", attemptId, pid, ending: withoutExcerpt(ending) }, attemptId);
  }

  #ownerOf(attemptId: string): string {
    return this.#gates.get(attemptId) ?? this.#runs.get(attemptId) ?? UNKNOWN;
  }

  #tell(identity: string | null, event: FrameEvent, sourceId: string = SUPERVISOR): void {
    if (!this.#audience.isWatched) return;
    const now = this.#now();
    const frames = [eventFrame(LAUNCHER, sourceId, event, now), snapshotFrame(LAUNCHER, event, this.#snapshot(), now)];
    this.#audience.say(frames.map((frame) => ({ kind: "launcher" as const, identity, frame })));
  }

  #snapshot(): PublicSnapshot {
    const gates = this.#gates;
    const runs = this.#runs;
    const { process: maxArmed = 0 } = this.capacity;
    return snapshotOf("active", undefined, { gates: gates.size, running: runs.size, maxArmed });
  }
}
