/**
 * A host of make-believe processes on any clock, and launchers for it. The host outlives its launchers, as processes
 * outlive the daemon: a test lets the daemon, a launcher or the whole machine die and asks the host what ever ran.
 */

import { err, ok, type Result } from "../../../core/base/result.js";
import { isPast } from "../../../core/period/lateness.js";
import { type Ending, EXIT_UNSEEN } from "../../../core/state/ending.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { Clock, Timer } from "../../clock.js";
import type {
  AdoptOutcome,
  AdoptRequest,
  Armed,
  ArmFailure,
  GoOutcome,
  RunnerEvent,
  Termination,
} from "../../runner/port.js";
import { LAUNCHER_LIMITS } from "../child/limits.js";
import type { GatedRun, Launcher, ProcessArm } from "../port.js";
import { checkRequest, failure } from "../request-check.js";

export interface SimulatedBehaviour {
  /** No process is created. */
  readonly refusal?: ArmFailure;
  /** How long it takes until the process waits behind its gate; at once by default. */
  readonly armMs?: number;
  /** Contact is lost at the moment of release: nothing ran, and nobody can tell. */
  readonly isStartLost?: boolean;
  /** null: until it is ended. */
  readonly runMs: number | null;
  readonly exitCode: number;
  /** It ends itself by this signal instead of with the exit code: a crash. */
  readonly signal?: NodeJS.Signals;
  /** TERM alone does not end it. */
  readonly ignoresTerm?: boolean;
  /** Nothing ends it: a process stuck in the kernel. */
  readonly isUnkillable?: boolean;
}

interface Execution {
  readonly attemptId: string;
  readonly pid: number;
  readonly startedAt: EpochMs;
}

/** Sees what happens on the machine itself, whatever daemons believe. */
export interface HostWitness {
  executed(request: ProcessArm, startedAt: EpochMs): void;
  ended(request: ProcessArm, endedAt: EpochMs): void;
}

interface Run extends GatedRun {
  readonly request: ProcessArm;
  readonly behaviour: SimulatedBehaviour;
  phase: "gated" | "running";
  /** Who hears how it ended: its launcher, as long as that lives. */
  parent: SimulatedLauncher | null;
  /** Who hears that it ended. */
  watcher: SimulatedLauncher | null;
  timer: Timer | null;
}

type ExitedHow = Pick<Extract<Ending, { kind: "exited" }>, "code" | "signal">;

const FIRST_PID = 1_000;
const TICK_MS = 10;

export class SimulatedHost {
  /** Everything that ever ran, in order: the evidence for "at most once". Empty when a witness of one's own keeps it. */
  readonly executions: Execution[] = [];
  readonly #runs = new Map<string, Run>();
  #nextPid = FIRST_PID;
  #boots = 1;
  readonly #witness: HostWitness | null;

  constructor(
    readonly clock: Clock,
    readonly behaviourOf: (request: ProcessArm) => SimulatedBehaviour,
    witness: HostWitness | null = null,
  ) {
    this.#witness = witness;
  }

  get bootId(): string {
    return `boot-${this.#boots}`;
  }

  get running(): readonly GatedRun[] {
    return [...this.#runs.values()].filter((run) => run.phase === "running");
  }

  launcher(maxArmed = 1_000): SimulatedLauncher {
    return new SimulatedLauncher(this, maxArmed);
  }

  /** The machine goes down and comes up: nothing survives. */
  reboot(): void {
    for (const run of this.#runs.values()) {
      run.timer?.cancel();
      if (run.phase === "running") this.#witness?.ended(run.request, this.clock.now());
    }
    this.#runs.clear();
    this.#boots += 1;
  }

  create(request: ProcessArm, behaviour: SimulatedBehaviour, parent: SimulatedLauncher): Run {
    const startTicks = Math.floor(this.clock.monotonicMs() / TICK_MS);
    const base = { attemptId: request.attemptId, pid: this.#nextPid++, startTicks, request, behaviour };
    const run: Run = { ...base, phase: "gated", parent, watcher: parent, timer: null };
    this.#runs.set(run.attemptId, run);
    return run;
  }

  find({ attemptId, holder }: Armed): Run | null {
    const run = this.#runs.get(attemptId);
    if (run === undefined || holder.kind !== "process" || holder.bootId !== this.bootId) return null;
    return run.pid === holder.pid && run.startTicks === holder.startTicks ? run : null;
  }

  byAttempt(attemptId: string): Run | null {
    return this.#runs.get(attemptId) ?? null;
  }

  execute(run: Run): void {
    const { exitCode: code, runMs, signal } = run.behaviour;
    const startedAt = this.clock.now();
    run.phase = "running";
    if (this.#witness === null) this.executions.push({ attemptId: run.attemptId, pid: run.pid, startedAt });
    else this.#witness.executed(run.request, startedAt);
    if (runMs === null) return;
    const how = signal === undefined ? { code, signal: null } : { code: null, signal };
    run.timer = this.clock.after(runMs, () => this.#end(run, how));
  }

  /** False when nothing happens: it ignores the signal. */
  kill(run: Run, signal: NodeJS.Signals): boolean {
    const { ignoresTerm = false, isUnkillable = false } = run.behaviour;
    if (isUnkillable || (ignoresTerm && signal !== "SIGKILL")) return false;
    this.#end(run, { code: null, signal });
    return true;
  }

  /** A gate ends; nobody is told. */
  discard(run: Run): void {
    this.#runs.delete(run.attemptId);
  }

  closeGates(launcher: SimulatedLauncher): readonly Run[] {
    const gated = [...this.#runs.values()].filter((run) => run.phase === "gated" && run.parent === launcher);
    for (const run of gated) this.discard(run);
    return gated;
  }

  orphan(launcher: SimulatedLauncher, isStillWatched: boolean): void {
    for (const run of this.#runs.values()) {
      if (run.parent === launcher) run.parent = null;
      if (run.watcher === launcher && !isStillWatched) run.watcher = null;
    }
  }

  #end(run: Run, how: ExitedHow): void {
    run.timer?.cancel();
    this.#runs.delete(run.attemptId);
    this.#witness?.ended(run.request, this.clock.now());
    const ending = run.parent === null ? EXIT_UNSEEN : ({ kind: "exited", ...how, reason: null } as const);
    const { attemptId, pid } = run;
    run.watcher?.emit({ kind: "ended", attemptId, pid, ending });
  }
}

export class SimulatedLauncher implements Launcher {
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  #isAlive = true;
  readonly #host: SimulatedHost;

  constructor(
    host: SimulatedHost,
    readonly maxArmed: number,
  ) {
    this.#host = host;
  }

  get capacity(): { readonly process: number } {
    return { process: this.maxArmed };
  }

  async arm(request: ProcessArm): Promise<Result<Armed, ArmFailure>> {
    if (!this.#isAlive) return err(failure("launcher-unavailable", "the launcher is closed"));
    const behaviour = this.#host.behaviourOf(request);
    const refusal = checkRequest(request) ?? behaviour.refusal;
    if (behaviour.armMs !== undefined && behaviour.armMs > 0) {
      await new Promise<void>((resolve) => this.#host.clock.after(behaviour.armMs ?? 0, resolve));
      if (!this.#isAlive) return err(failure("launcher-unavailable", "the launcher is closed"));
    }
    if (refusal !== undefined) return err(refusal);
    const { attemptId, pid, startTicks } = this.#host.create(request, behaviour, this);
    return ok({ attemptId, holder: { kind: "process", pid, startTicks, bootId: this.#host.bootId } });
  }

  async go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const run = this.#host.find(armed);
    if (run?.phase !== "gated" || run.parent !== this) return "gone";
    if (run.behaviour.isStartLost === true) {
      this.#host.discard(run);
      return "unconfirmed";
    }
    if (!isPast(latestAt, this.#host.clock.now())) {
      this.#host.execute(run);
      return "started";
    }
    await this.abort(armed);
    return "late";
  }

  async abort(armed: Armed): Promise<void> {
    const run = this.#host.find(armed);
    if (run?.phase === "gated") this.#host.discard(run);
  }

  async adopt(request: AdoptRequest): Promise<AdoptOutcome> {
    const run = this.#host.find(request);
    if (run?.phase !== "running") return "gone";
    run.watcher = this;
    return "watching";
  }

  terminate(attemptId: string, graceMs: number): Promise<Termination> {
    const run = this.#host.byAttempt(attemptId);
    if (run === null || this.#host.kill(run, "SIGTERM")) return Promise.resolve({ survivors: [], wasKilled: false });
    return new Promise((resolve) => {
      const killLater = () => {
        const isGone = this.#host.byAttempt(attemptId) !== run || this.#host.kill(run, "SIGKILL");
        if (isGone) resolve({ survivors: [], wasKilled: true });
        else this.#giveUpOn(run, resolve);
      };
      this.#host.clock.after(graceMs, killLater);
    });
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.die();
  }

  /** The daemon dies, and its launcher with it: gates close, runs go on unwatched. */
  die(): void {
    this.#isAlive = false;
    this.#listeners.clear();
    this.#host.closeGates(this);
    this.#host.orphan(this, false);
  }

  /** The launcher process alone dies and is replaced: gates are lost, exit codes of what runs will not be known. */
  loseProcess(): void {
    const lost = this.#host.closeGates(this);
    this.#host.orphan(this, true);
    this.emit({ kind: "trouble", code: "launcher-died", message: "the launcher process ended: SIGKILL" });
    for (const { attemptId } of lost) this.emit({ kind: "gate-lost", attemptId });
  }

  emit(event: RunnerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #giveUpOn(run: Run, resolve: (termination: Termination) => void): void {
    const report = () => {
      const survivors = this.#host.byAttempt(run.attemptId) === run ? [run.pid] : [];
      resolve({ survivors, wasKilled: true });
    };
    this.#host.clock.after(LAUNCHER_LIMITS.killMs, report);
  }
}
