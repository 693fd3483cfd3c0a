/** What the daemon says about itself, whatever form its lines take. */
import type { SupervisorEvent } from "../actors/supervisor/events.js";
import type { ErrorComponent } from "../core/errors/kron-error.js";
import type { LogLevel } from "../core/errors/registry.js";
import { type EpochMs, formatInstant } from "../core/time/instant.js";

export interface DaemonEvent {
  readonly at: EpochMs;
  readonly event: string;
  readonly component: ErrorComponent;
  readonly level: LogLevel;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Where lines go. A line is written when the call returns: a SIGKILL must not eat it. */
export interface DaemonLog {
  supervisor(event: SupervisorEvent): void;
  daemon(event: DaemonEvent): void;
}

/** For embedding and tests. */
export const SILENT_LOG: DaemonLog = { supervisor: () => undefined, daemon: () => undefined };

export function daemonFields(event: DaemonEvent): Record<string, unknown> {
  const { at, level, component, event: name, fields } = event;
  return { time: formatInstant(at), level, component, event: name, ...fields };
}
