/**
 * The real launcher: several launcher processes behind one port, so that the big process never forks and a single core is
 * no bottleneck. It survives their deaths: gates are then lost and said to be, runs go on and are watched by the next.
 */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { KronError } from "../../../core/base/errors/kron-error.js";
import { err, ok } from "../../../core/base/result.js";
import type { EpochMs } from "../../../core/time/instant.js";
import { type Clock, systemClock } from "../../clock.js";
import {
  livenessOf,
  PROCESS_TABLE,
  type ProcessIdentity,
  type ProcessTable,
  readBootId,
} from "../../process-identity.js";
import type { AdoptOutcome, AdoptRequest, Armed, GoOutcome, RunnerEvent, Termination } from "../../runner/port.js";
import { isStillGated } from "../child/gate.js";
import { LAUNCHER_LIMITS } from "../child/limits.js";
import { outputPath } from "../child/output.js";
import type { Launcher, ProcessArm } from "../port.js";
import type { DaemonFrame, LauncherFrame } from "../protocol.js";
import { checkRequest, failure } from "../request-check.js";
import { type GateFate, settleGate } from "./gate-proof.js";
import { type ArmAnswer, armedOf, endOf, type Held, isAskedAbout, newHeld } from "./held.js";
import { type Station, Stations } from "./stations.js";
import { Uptime } from "./uptime.js";

export interface ProcessLauncherOptions {
  /** File of the launcher process; the built one by default. */
  readonly entry?: string;
  /** How many processes; as many as there are cores by default, within a limit. */
  readonly count?: number;
  /** A cgroup directory that is delegated to us (S28). */
  readonly cgroupRoot?: string;
  /** How long a launcher may be silent when asked, before it is suspected. */
  readonly silenceMs?: number;
  /** By which it is judged whether a start is in time. */
  readonly clock?: Clock;
  /** What is asked about runs of earlier daemons. */
  readonly processTable?: ProcessTable;
}

/** Resolves when all launcher processes have answered; throws KronError when they cannot be started. */
export async function startLauncher(options: ProcessLauncherOptions = {}): Promise<Launcher> {
  const launcher = new ProcessLauncher(options);
  await launcher.start();
  return launcher;
}

interface Waiting {
  readonly request: ProcessArm;
  readonly answer: (answer: ArmAnswer) => void;
}

type CallFrame = Extract<DaemonFrame, { t: "terminate" }>;

interface Call {
  readonly frame: CallFrame;
  readonly station: Station;
  readonly answer: (frame: LauncherFrame | null) => void;
}

class ProcessLauncher implements Launcher {
  readonly #stations: Stations;
  readonly #held = new Map<string, Held>();
  readonly #waiting: Waiting[] = [];
  readonly #calls = new Map<number, Call>();
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  readonly #bootId = readBootId();
  readonly #processTable: ProcessTable;
  readonly #clock: Clock;
  readonly #uptime = new Uptime();
  #lastCall = 0;
  #isClosed = false;

  constructor(options: ProcessLauncherOptions) {
    this.#processTable = options.processTable ?? PROCESS_TABLE;
    this.#clock = options.clock ?? systemClock;
    const settings = {
      entry: options.entry ?? fileURLToPath(import.meta.resolve("#launcher-process")),
      count: options.count ?? Math.min(availableParallelism(), LAUNCHER_LIMITS.launchers),
      cgroupRoot: options.cgroupRoot ?? null,
      silenceMs: options.silenceMs ?? LAUNCHER_LIMITS.silenceMs,
    };
    this.#stations = new Stations(settings, {
      up: (station) => this.#up(station),
      down: (station, reason) => this.#down(station, reason),
      frame: (_, frame) => this.#heard(frame),
      isAsked: (station) => this.#isAsked(station),
    });
  }

  get maxArmed(): number {
    return this.#stations.maxArmed;
  }

  get capacity(): { readonly process: number } {
    return { process: this.maxArmed };
  }

  async start(): Promise<void> {
    const failed = await this.#stations.start();
    if (failed === null) return;
    await this.close();
    const details = { component: "executor", operation: "launcher-start" } as const;
    throw new KronError("launcher-unavailable", `the launcher process cannot be started: ${failed}`, details);
  }

  async arm(request: ProcessArm): Promise<ArmAnswer> {
    if (this.#isClosed) return err(failure("launcher-unavailable", "the launcher is closed"));
    const refusal = checkRequest(request);
    if (refusal !== null) return err(refusal);
    const { length } = this.#waiting;
    if (length >= LAUNCHER_LIMITS.armsQueued) {
      return err(failure("fork-failed", `${length} processes wait to be created already`));
    }
    return new Promise((answer) => {
      this.#waiting.push({ request, answer });
      this.#pump();
    });
  }

  go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const held = this.#held.get(armed.attemptId);
    if (held?.phase !== "armed") return Promise.resolve("gone");
    held.phase = "going";
    return new Promise((resolve) => {
      held.answerGo = resolve;
      const latest = this.#uptime.hundredthsAt(Math.min(latestAt, Number.MAX_SAFE_INTEGER), this.#clock.now());
      held.station.link.send({ t: "go", id: held.id, latest });
    });
  }

  abort(armed: Armed): Promise<void> {
    const held = this.#held.get(armed.attemptId);
    if (held?.phase !== "armed") return Promise.resolve();
    held.phase = "aborting";
    return new Promise((resolve) => {
      held.answerAbort = resolve;
      held.station.link.send({ t: "abort", id: held.id });
    });
  }

  /** S27: only what is the same process in every respect; and only if it is past its gate (S23). */
  async adopt({ attemptId, holder, output }: AdoptRequest): Promise<AdoptOutcome> {
    if (holder.kind !== "process") return "gone";
    const { pid, startTicks, bootId } = holder;
    // Only a full match is trusted: without its birth and its boot a number says nothing.
    if (startTicks === null || bootId === null) return "gone";
    const fate = await this.#fateOf(attemptId, { pid, startTicks, bootId });
    const station = this.#stations.leastBusy();
    if (fate !== "ran") {
      if (output !== null) station.link.send({ t: "tidy", output });
      return fate;
    }
    const held = newHeld({ attemptId, pid, startTicks }, output, station);
    held.phase = "running";
    this.#held.set(held.id, held);
    this.#watchRun(held);
    return "watching";
  }

  async #fateOf(attemptId: string, identity: ProcessIdentity): Promise<GateFate> {
    const liveness = livenessOf(identity, this.#bootId, this.#processTable);
    if (liveness === "gone") return "gone";
    if (liveness === "unverifiable") this.#emit(unverifiable(attemptId, identity.pid));
    const isGate = liveness === "alive" && isStillGated(identity.pid);
    return isGate ? settleGate(identity, LAUNCHER_LIMITS.adoptedGateMs) : "ran";
  }

  async terminate(attemptId: string, graceMs: number): Promise<Termination> {
    const held = this.#held.get(attemptId);
    if (held === undefined) return { survivors: [], wasKilled: false };
    const answer = await this.#call(held, (call) => ({ t: "terminate", run: held.run, graceMs, call }));
    if (answer?.t !== "terminated") return { survivors: [held.run.pid], wasKilled: false };
    return { survivors: answer.survivors, wasKilled: answer.wasKilled };
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#refuseWaiting("the launcher is closed");
    await this.#stations.close();
    await Promise.all(this.#stations.all.map((station) => this.#abandon(station, "the launcher is closed")));
    for (const call of this.#calls.values()) call.answer(null);
    this.#calls.clear();
  }

  #up(station: Station): void {
    for (const held of this.#heldBy(station)) {
      if (held.phase === "running") this.#watchRun(held);
    }
    for (const call of this.#calls.values()) {
      if (call.station === station) station.link.send(call.frame);
    }
    this.#pump();
  }

  #down(station: Station, reason: string): void {
    const message = `the launcher process ended: ${reason}`;
    this.#emit({ kind: "trouble", code: "launcher-died", message });
    void this.#abandon(station, message);
    if (this.#stations.areAllDown) this.#refuseWaiting(`no launcher process runs: ${reason}`);
  }

  /** What becomes of everything that a launcher held when it ended: every gate is closed, every run goes on. */
  async #abandon(station: Station, message: string): Promise<void> {
    const investigations: Promise<void>[] = [];
    for (const held of this.#heldBy(station)) {
      if (held.phase === "going") investigations.push(this.#investigate(held));
      else if (held.phase !== "running") this.#closed(held, message);
    }
    await Promise.all(investigations);
  }

  #closed(held: Held, message: string): void {
    this.#held.delete(held.id);
    if (held.phase === "arming") held.answerArm(err(failure("launcher-died", message)));
    else if (held.phase === "aborting") held.answerAbort();
    else if (!this.#isClosed) this.#emit({ kind: "gate-lost", attemptId: held.id });
  }

  /** GO was on its way when contact was lost. */
  async #investigate(held: Held): Promise<void> {
    const fate = await settleGate({ ...held.run, bootId: this.#bootId }, LAUNCHER_LIMITS.releasedGateMs);
    if (fate === "ran") {
      held.phase = "running";
      held.answerGo("started");
      this.#watchRun(held);
    } else {
      this.#held.delete(held.id);
      held.answerGo(fate === "never-ran" ? "gone" : "unconfirmed");
    }
  }

  #heard(frame: LauncherFrame): void {
    switch (frame.t) {
      case "trouble":
        this.#emit({ kind: "trouble", code: frame.code, message: frame.message });
        return;
      case "terminated":
        this.#calls.get(frame.call)?.answer(frame);
        this.#calls.delete(frame.call);
        return;
      case "hello":
      case "pong":
        return;
      default: {
        const held = this.#held.get(frame.id);
        if (held !== undefined) this.#heardOf(held, frame);
      }
    }
  }

  #heardOf(held: Held, frame: Extract<LauncherFrame, { id: string }>): void {
    switch (frame.t) {
      case "armed":
        held.run = { attemptId: held.id, pid: frame.pid, startTicks: frame.startTicks };
        held.phase = "armed";
        held.answerArm(ok(armedOf(held.run, this.#bootId)));
        this.#armingDone(held.station);
        return;
      case "refused":
        this.#held.delete(held.id);
        held.answerArm(err(failure(frame.code, frame.message)));
        this.#armingDone(held.station);
        return;
      case "started":
        held.phase = "running";
        held.answerGo("started");
        return;
      case "late":
      case "gone":
        this.#held.delete(held.id);
        held.answerGo(frame.t);
        return;
      case "aborted":
        this.#held.delete(held.id);
        held.answerAbort();
        return;
      case "gate-lost":
        // When GO or an abort is already on its way, its own answer follows.
        if (held.phase === "armed") this.#closed(held, "");
        return;
      case "exited":
        this.#held.delete(held.id);
        this.#emit(endOf(held.run, frame));
    }
  }

  #armingDone(station: Station): void {
    station.arming -= 1;
    this.#pump();
  }

  /** Hands waiting requests out, a bounded number to each launcher. */
  #pump(): void {
    while (this.#waiting.length > 0) {
      const station = this.#stations.leastBusy();
      if (!station.link.isUp || station.arming >= LAUNCHER_LIMITS.armsInFlight) return;
      const next = this.#waiting.shift();
      if (next !== undefined) this.#hand(next, station);
    }
  }

  #hand({ request, answer }: Waiting, station: Station): void {
    if (this.#held.has(request.attemptId)) {
      throw new Error(`invariant broken: attempt ${request.attemptId} exists already`);
    }
    const path = outputPath(request.output);
    const output = path === null ? null : { path, plan: request.output };
    const held = newHeld({ attemptId: request.attemptId, pid: 0, startTicks: 0 }, output, station);
    held.answerArm = answer;
    station.arming += 1;
    this.#held.set(held.id, held);
    station.link.send({ t: "arm", request });
  }

  #watchRun(held: Held): void {
    if (held.station.link.isUp) held.station.link.send({ t: "adopt", run: held.run, output: held.output });
  }

  #call(held: Held, frameOf: (call: number) => CallFrame): Promise<LauncherFrame | null> {
    const call = ++this.#lastCall;
    const frame = frameOf(call);
    return new Promise((answer) => {
      this.#calls.set(call, { frame, station: held.station, answer });
      if (held.station.link.isUp) held.station.link.send(frame);
    });
  }

  *#heldBy(station: Station): Iterable<Held> {
    for (const held of this.#held.values()) {
      if (held.station === station) yield held;
    }
  }

  #isAsked(station: Station): boolean {
    for (const call of this.#calls.values()) if (call.station === station) return true;
    for (const held of this.#heldBy(station)) if (isAskedAbout(held)) return true;
    return false;
  }

  #refuseWaiting(message: string): void {
    for (const { answer } of this.#waiting.splice(0)) answer(err(failure("launcher-unavailable", message)));
  }

  #emit(event: RunnerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** S27: never forgotten for that, and never signalled; somebody should know. */
function unverifiable(attemptId: string, pid: number): RunnerEvent {
  const message = `process ${pid} of run ${attemptId} may not be looked at: it counts as running and is never signalled`;
  return { kind: "trouble", code: "pid-unverifiable", message };
}
