/** How long to leave a failing store alone: doubling pauses between named bounds, over at the first success. */
import type { EpochMs } from "../core/time/instant.js";
import { SCHEDULER_LIMITS } from "./limits.js";

export class StoreBackoff {
  #failures = 0;
  #untilAt: EpochMs = Number.NEGATIVE_INFINITY;

  /** Returns the pause. */
  failed(now: EpochMs): number {
    const { storeRetryFirstMs, storeRetryMaxMs } = SCHEDULER_LIMITS;
    const pauseMs = Math.min(storeRetryMaxMs, storeRetryFirstMs * 2 ** this.#failures);
    this.#failures++;
    this.#untilAt = now + pauseMs;
    return pauseMs;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#untilAt = Number.NEGATIVE_INFINITY;
  }

  /** What is left of the pause. A clock that went back does not make it longer than a pause can be. */
  remainingMs(now: EpochMs): number {
    const leftMs = this.#untilAt - now;
    return leftMs > SCHEDULER_LIMITS.storeRetryMaxMs ? 0 : Math.max(0, leftMs);
  }
}
