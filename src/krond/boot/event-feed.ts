import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";

/** Whoever follows what the supervisor tells. Nobody is waited for. */
export class EventFeed {
  readonly #listeners = new Set<(event: SupervisorEvent) => void>();

  tell(event: SupervisorEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  subscribe(listener: (event: SupervisorEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
