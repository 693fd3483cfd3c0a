/** A runner that asks another one for everything. Whoever sees to some of it extends this one, and says of that alone what it does. */
import type { Result } from "../../core/base/result.js";
import type { EpochMs } from "../../core/time/instant.js";
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

export abstract class ForwardingRunner implements Runner {
  readonly #inner: Runner;

  constructor(inner: Runner) {
    this.#inner = inner;
  }

  get capacity(): Capacity {
    return this.#inner.capacity;
  }

  arm(request: ArmRequest): Promise<Result<Armed, ArmFailure>> {
    return this.#inner.arm(request);
  }

  go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    return this.#inner.go(armed, latestAt);
  }

  abort(armed: Armed): Promise<void> {
    return this.#inner.abort(armed);
  }

  adopt(request: AdoptRequest): Promise<AdoptOutcome> {
    return this.#inner.adopt(request);
  }

  terminate(attemptId: string, graceMs: number): Promise<Termination> {
    return this.#inner.terminate(attemptId, graceMs);
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    return this.#inner.subscribe(listener);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
