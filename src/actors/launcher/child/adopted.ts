/**
 * Runs whose parent is no longer any of ours (S29): nobody tells when they end, so they are looked at. How they ended
 * stays unknown.
 */
import { livenessOf } from "../../process-identity.js";
import type { GatedRun } from "../port.js";
import { LAUNCHER_LIMITS } from "./limits.js";

export class AdoptedProcesses {
  readonly #runs = new Map<string, GatedRun>();
  #timer: NodeJS.Timeout | null = null;
  readonly #bootId: string;
  readonly #onEnd: (attemptId: string) => void;

  constructor(bootId: string, onEnd: (attemptId: string) => void) {
    this.#bootId = bootId;
    this.#onEnd = onEnd;
  }

  watch(run: GatedRun): void {
    this.#runs.set(run.attemptId, run);
    this.#timer ??= setTimeout(() => this.#look(), 0);
  }

  /** What may not be looked at counts as alive (S27). */
  #look(): void {
    for (const run of this.#runs.values()) {
      if (livenessOf({ ...run, bootId: this.#bootId }, this.#bootId) !== "gone") continue;
      this.#runs.delete(run.attemptId);
      this.#onEnd(run.attemptId);
    }
    this.#timer = this.#runs.size === 0 ? null : setTimeout(() => this.#look(), LAUNCHER_LIMITS.adoptedPollMs);
  }
}
