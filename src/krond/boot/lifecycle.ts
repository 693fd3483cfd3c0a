/**
 * Where in its life the daemon is, by the supervisor's chart: the daemon says what happens to it, the chart says what that
 * makes of it. Whoever looks on is told of every change.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import { ChartDriver } from "../../machines/chart-driver.js";
import { type SupervisorSnapshot, supervisorMachine } from "../../machines/supervisor.machine.js";
import type { SupervisorEvent } from "../../machines/supervisor-logic.js";

export type LifecycleWatcher = (event: SupervisorEvent, snapshot: SupervisorSnapshot) => void;

export class Lifecycle {
  watcher: LifecycleWatcher | null = null;
  private readonly chart = new ChartDriver(supervisorMachine, () => {});

  get snapshot(): SupervisorSnapshot {
    return this.chart.snapshot;
  }

  tell(event: SupervisorEvent): void {
    this.chart.send(event);
    this.watcher?.(event, this.snapshot);
  }

  /** The daemon ends now, even where the registry calls the trouble no reason to. */
  fail(cause: unknown): void {
    this.tell({ type: "FAILED", code: cause instanceof KronError ? cause.code : "invariant-broken" });
    if (this.snapshot.status === "active") this.tell({ type: "STOP" });
  }
}
