/** One runner for everything: each request goes to the runner of its kind, and what they tell is told as by one. */
import type { Result } from "../../core/base/result.js";
import type { HolderKind } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Dispatcher } from "../dispatcher/port.js";
import type { Launcher, ProcessArm } from "../launcher/port.js";
import type {
  AdoptOutcome,
  AdoptRequest,
  Armed,
  ArmFailure,
  ArmRequest,
  Capacity,
  GoOutcome,
  Runner,
  RunnerEvent,
  Termination,
} from "./port.js";

type Part = Pick<Runner, Exclude<keyof Runner, "arm">>;

/** Adds to a process what is read for each start. */
interface Environments {
  complete(request: ProcessArm): Promise<Result<ProcessArm, ArmFailure>>;
}

export class RunnerRouter implements Runner {
  /** Whose run it is, as long as it may be asked about. */
  readonly #owners = new Map<string, Part>();
  readonly #parts: readonly Part[];
  readonly #launcher: Launcher;
  readonly #dispatcher: Dispatcher;
  readonly #environment: Environments | null;

  constructor(
    launcher: Launcher,
    dispatcher: Dispatcher,
    /** Null: nothing is read; a pretended process has no use for it. */
    environment: Environments | null = null,
  ) {
    this.#launcher = launcher;
    this.#dispatcher = dispatcher;
    this.#environment = environment;
    this.#parts = [launcher, dispatcher];
    this.subscribe((event) => {
      if (event.kind !== "trouble") this.#owners.delete(event.attemptId);
    });
  }

  get capacity(): Capacity {
    return { ...this.#launcher.capacity, ...this.#dispatcher.capacity };
  }

  async arm(request: ArmRequest): Promise<Result<Armed, ArmFailure>> {
    if (request.kind !== "process") return this.#dispatcher.arm(request);
    if (request.envSources === undefined || this.#environment === null) return this.#launcher.arm(request);
    const full = await this.#environment.complete(request);
    return full.ok ? this.#launcher.arm(full.value) : full;
  }

  async go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const part = this.#partOf(armed.holder.kind);
    // Before the answer: the end of a short run may come with it.
    this.#owners.set(armed.attemptId, part);
    const outcome = await part.go(armed, latestAt);
    if (outcome !== "started") this.#owners.delete(armed.attemptId);
    return outcome;
  }

  abort(armed: Armed): Promise<void> {
    return this.#partOf(armed.holder.kind).abort(armed);
  }

  async adopt(request: AdoptRequest): Promise<AdoptOutcome> {
    const part = this.#partOf(request.holder.kind);
    const outcome = await part.adopt(request);
    if (outcome === "watching") this.#owners.set(request.attemptId, part);
    return outcome;
  }

  async terminate(attemptId: string, graceMs: number): Promise<Termination> {
    return (this.#owners.get(attemptId) ?? this.#launcher).terminate(attemptId, graceMs);
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    const stops = this.#parts.map((part) => part.subscribe(listener));
    return () => {
      for (const stop of stops) stop();
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()));
    this.#owners.clear();
  }

  #partOf(kind: HolderKind): Part {
    return kind === "process" ? this.#launcher : this.#dispatcher;
  }
}
