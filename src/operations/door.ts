/** A way in that is not the daemon's own: what it is given, and what is known of it while it is open. */
import type { Clock } from "../actors/clock.js";
import type { Door } from "../actors/doors/listen.js";
import type { SupervisorEvent } from "../actors/supervisor/write/events.js";
import type { Acting } from "./ports.js";
import type { Watching } from "./watching.js";

export interface EventListener {
  tell(event: SupervisorEvent): void;
  /** Some of what other nodes have told was not heard. */
  missed(): void;
}

export interface DoorPorts {
  readonly acting: Acting;
  readonly clock: Clock;
  readonly inspection: Watching;
  /** Tells of every event from now on, until it is called off; of other nodes, as long as somebody follows. */
  subscribe(listener: EventListener): () => void;
  /** Tells how long each durable commit took, from now on, until it is called off. */
  watchCommits(listener: (durationMs: number) => void): () => void;
  /** Of trouble that is not the client's. */
  report(error: unknown, about: { readonly operation: string; readonly instance?: string }): void;
}

export interface NamedDoor extends Door {
  /** As the ready line says it. */
  readonly address: string;
}

export interface DoorOpener {
  /** What the ready line calls it. */
  readonly name: string;
  open(ports: DoorPorts): Promise<NamedDoor>;
}
