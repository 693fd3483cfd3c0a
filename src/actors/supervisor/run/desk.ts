/**
 * What the parts of the supervisor may ask of the whole: to tell a job something, to tell the log something, and to count
 * what is under way.
 */
import type { ErrorCode } from "../../../core/base/errors/registry.js";
import type { ActivationEvent } from "../../../machines/step.js";
import type { JobEntry } from "../rows/job-entry.js";
import type { SupervisorEvent } from "../write/events.js";

export interface Trouble {
  readonly operation: string;
  readonly identity?: string;
  readonly periodId?: string | undefined;
}

export interface Desk {
  deliver(entry: JobEntry, event: ActivationEvent): void;
  emit(event: SupervisorEvent): void;
  report(code: ErrorCode, message: string, about: Trouble): void;
  /** Counts as under way until it has settled; a rejection is fatal: ports report trouble as values. */
  track<T>(operation: Promise<T>): Promise<T>;
  begin(operation: Promise<void>): void;
}
