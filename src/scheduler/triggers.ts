/** Runs that were asked for by hand and have not started yet. Each is answered once; one start answers all of its task. */
import type { TriggerOutcome } from "./types.js";

interface Asker {
  readonly resolve: (outcome: TriggerOutcome) => void;
  readonly reject: (error: Error) => void;
}

export class Triggers {
  readonly #askers = new Map<number, Asker[]>();

  ask(slot: number): Promise<TriggerOutcome> {
    return new Promise((resolve, reject) => {
      this.#askers.set(slot, [...(this.#askers.get(slot) ?? []), { resolve, reject }]);
    });
  }

  has(slot: number): boolean {
    return this.#askers.has(slot);
  }

  started(slot: number): void {
    for (const { resolve } of this.#take(slot)) resolve("started");
  }

  refused(slot: number, error: Error): void {
    for (const { reject } of this.#take(slot)) reject(error);
  }

  /** Nothing that waits will start. */
  refuseAll(errorOf: (slot: number) => Error): void {
    for (const slot of [...this.#askers.keys()]) this.refused(slot, errorOf(slot));
  }

  #take(slot: number): readonly Asker[] {
    const askers = this.#askers.get(slot) ?? [];
    this.#askers.delete(slot);
    return askers;
  }
}
