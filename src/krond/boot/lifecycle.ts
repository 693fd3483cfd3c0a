/**
 * Where in its life the daemon is, by the supervisor's chart: the daemon says what happens to it, the chart says what that
 * makes of it. Whoever looks on is told of every change.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import { advance, begin } from "../../machines/advance.js";
import { type SupervisorSnapshot, supervisorMachine } from "../../machines/supervisor.machine.js";
import type { SupervisorEvent } from "../../machines/supervisor-logic.js";

export type LifecycleWatcher = (event: SupervisorEvent, snapshot: SupervisorSnapshot) => void;

export class Lifecycle {
  watcher: LifecycleWatcher | null = null;
  private current: SupervisorSnapshot = begin(supervisorMachine).snapshot;

  get snapshot(): SupervisorSnapshot {
    return this.current;
  }

  tell(event: SupervisorEvent): void {
    this.current = advance(supervisorMachine, this.current, event).snapshot;
    this.watcher?.(event, this.current);
  }

  /** The daemon ends now, even where the registry calls the trouble no reason to. */
  fail(cause: unknown): void {
    this.tell({ type: "FAILED", code: cause instanceof KronError ? cause.code : "invariant-broken" });
    if (this.current.status === "active") this.tell({ type: "STOP" });
  }
}
