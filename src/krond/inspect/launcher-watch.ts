/**
 * The launcher as an actor: a wrapper that tells what the launcher is asked for and what comes of it, and changes
 * nothing. Requests hold commands and environments; of them only names and numbers are told.
 */
import type {
  AdoptOutcome,
  AdoptRequest,
  Armed,
  ArmFailure,
  ArmRequest,
  GoOutcome,
  Launcher,
  LauncherEvent,
  Termination,
} from "../../actors/launcher/port.js";
import type { Result } from "../../core/base/result.js";
import type { EpochMs } from "../../core/time/instant.js";
import { redactedText } from "../log/redaction.js";
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

export interface LauncherAudience {
  readonly isWatched: boolean;
  say(said: readonly Said[]): void;
}

/** Matches no pattern but those that match everything: of a run of an earlier daemon only its attempt is known. */
const UNKNOWN = "";

export class LauncherWatch implements Launcher {
  /** By attempt: whose it is. */
  private readonly gates = new Map<string, string>();
  private readonly runs = new Map<string, string>();
  private readonly stop: () => void;

  constructor(
    private readonly launcher: Launcher,
    private readonly audience: LauncherAudience,
    private readonly now: () => EpochMs,
  ) {
    this.stop = launcher.subscribe((event) => this.heard(event));
  }

  get maxArmed(): number {
    return this.launcher.maxArmed;
  }

  async arm(request: ArmRequest): Promise<Result<Armed, ArmFailure>> {
    const { attemptId, user, env } = request;
    const identity = env["KRON_IDENTITY"] ?? UNKNOWN;
    this.gates.set(attemptId, identity);
    this.tell(identity, { type: "ARM", attemptId, identity, user });
    const armed = await this.launcher.arm(request);
    if (armed.ok) {
      this.tell(identity, { type: "ARMED", attemptId, pid: armed.value.pid }, attemptId);
    } else {
      this.gates.delete(attemptId);
      this.tell(identity, { type: "ARM_FAILED", attemptId, code: armed.error.code }, attemptId);
    }
    return armed;
  }

  async go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const { attemptId } = armed;
    const identity = this.ownerOf(attemptId);
    this.gates.delete(attemptId);
    this.runs.set(attemptId, identity);
    this.tell(identity, { type: "GO", attemptId, latestAt: instantText(latestAt) });
    const outcome = await this.launcher.go(armed, latestAt);
    if (outcome !== "started") this.runs.delete(attemptId);
    this.tell(identity, { type: "WENT", attemptId, outcome }, attemptId);
    return outcome;
  }

  async abort(armed: Armed): Promise<void> {
    const { attemptId } = armed;
    const identity = this.ownerOf(attemptId);
    this.gates.delete(attemptId);
    this.tell(identity, { type: "ABORT", attemptId });
    await this.launcher.abort(armed);
  }

  async adopt(request: AdoptRequest): Promise<AdoptOutcome> {
    const { attemptId, pid } = request;
    this.tell(UNKNOWN, { type: "ADOPT", attemptId, pid });
    const outcome = await this.launcher.adopt(request);
    if (outcome === "watching") this.runs.set(attemptId, UNKNOWN);
    this.tell(UNKNOWN, { type: "ADOPTED", attemptId, outcome }, attemptId);
    return outcome;
  }

  signal(attemptId: string, signal: NodeJS.Signals): Promise<boolean> {
    this.tell(this.ownerOf(attemptId), { type: "SIGNAL", attemptId, signal });
    return this.launcher.signal(attemptId, signal);
  }

  async terminate(attemptId: string, graceMs: number): Promise<Termination> {
    const identity = this.ownerOf(attemptId);
    this.tell(identity, { type: "TERMINATE", attemptId, graceMs });
    const termination = await this.launcher.terminate(attemptId, graceMs);
    this.tell(identity, { type: "TERMINATED", attemptId, ...termination }, attemptId);
    return termination;
  }

  subscribe(listener: (event: LauncherEvent) => void): () => void {
    return this.launcher.subscribe(listener);
  }

  close(): Promise<void> {
    this.stop();
    return this.launcher.close();
  }

  /** For a client that has just come. */
  present(): Said {
    const about = { name: LAUNCHER, sessionId: LAUNCHER, parentId: SUPERVISOR };
    const frame = actorFrame({ ...about, definition: CHARTS.launcher, snapshot: this.snapshot() }, this.now());
    return { kind: "launcher", identity: null, frame };
  }

  private heard(event: LauncherEvent): void {
    if (event.kind === "trouble") {
      const { code, message } = event;
      this.tell(null, { type: "TROUBLE", code, message: redactedText(message) }, LAUNCHER);
      return;
    }
    const { attemptId } = event;
    const identity = this.ownerOf(attemptId);
    this.gates.delete(attemptId);
    this.runs.delete(attemptId);
    if (event.kind === "gate-lost") {
      this.tell(identity, { type: "GATE_LOST", attemptId }, attemptId);
      return;
    }
    const { pid, exitCode, signal, wasObserved, cause } = event;
    this.tell(identity, { type: "EXITED", attemptId, pid, exitCode, signal, wasObserved, cause }, attemptId);
  }

  private ownerOf(attemptId: string): string {
    return this.gates.get(attemptId) ?? this.runs.get(attemptId) ?? UNKNOWN;
  }

  private tell(identity: string | null, event: FrameEvent, sourceId: string = SUPERVISOR): void {
    if (!this.audience.isWatched) return;
    const now = this.now();
    const frames = [eventFrame(LAUNCHER, sourceId, event, now), snapshotFrame(LAUNCHER, event, this.snapshot(), now)];
    this.audience.say(frames.map((frame) => ({ kind: "launcher" as const, identity, frame })));
  }

  private snapshot(): PublicSnapshot {
    const { gates, runs, maxArmed } = this;
    return snapshotOf("active", undefined, { gates: gates.size, running: runs.size, maxArmed });
  }
}
