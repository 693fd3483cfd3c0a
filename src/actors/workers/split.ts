/** One dispatcher of two: what workers come for goes to their desk, everything else is sent by the daemon. */
import type { Result } from "../../core/base/result.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Dispatcher, RequestArm } from "../dispatcher/port.js";
import type { AdoptOutcome, Armed, ArmFailure, GoOutcome, RunnerEvent, Termination } from "../runner/port.js";
import type { WorkerDesk } from "./desk.js";

export class SplitDispatcher implements Dispatcher {
  readonly #sender: Dispatcher;
  readonly #desk: WorkerDesk;

  constructor(sender: Dispatcher, desk: WorkerDesk) {
    this.#sender = sender;
    this.#desk = desk;
  }

  get capacity() {
    return this.#sender.capacity;
  }

  arm(request: RequestArm): Promise<Result<Armed, ArmFailure>> {
    return (request.target.by === "worker" ? this.#desk : this.#sender).arm(request);
  }

  go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    return this.#partOf(armed.attemptId).go(armed, latestAt);
  }

  abort(armed: Armed): Promise<void> {
    return this.#partOf(armed.attemptId).abort(armed);
  }

  /** Neither has anything of an earlier daemon. */
  async adopt(): Promise<AdoptOutcome> {
    return "gone";
  }

  terminate(attemptId: string, graceMs: number): Promise<Termination> {
    return this.#partOf(attemptId).terminate(attemptId, graceMs);
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    const stops = [this.#sender.subscribe(listener), this.#desk.subscribe(listener)];
    return () => {
      for (const stop of stops) stop();
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#sender.close(), this.#desk.close()]);
  }

  #partOf(attemptId: string): Dispatcher {
    return this.#desk.has(attemptId) ? this.#desk : this.#sender;
  }
}
