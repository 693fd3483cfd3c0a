/** What machines that watch machines get: metrics, health, readiness, and systemd's heartbeat. */
import type { Clock, Timer } from "../actors/clock.js";
import type { SupervisorEvent } from "../actors/supervisor/events.js";
import type { DaemonStatus } from "../actors/supervisor/port.js";
import { type LoopDelayProbe, startLoopDelayProbe } from "./loop-delay.js";
import { DaemonMetrics } from "./metrics.js";
import type { Notifier } from "./notify.js";
import { type StatusServer, startStatusServer } from "./status-server.js";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface MonitoringPorts {
  readonly clock: Clock;
  readonly notifier: Notifier;
  /** null: nothing listens. */
  readonly listen: ListenAddress | null;
  status(): Pick<DaemonStatus, "jobs" | "active">;
  lostLogLines(): number;
}

export class Monitoring {
  private readonly probe: LoopDelayProbe | null;
  private readonly metrics: DaemonMetrics | null;
  private server: StatusServer | null = null;
  private heartbeat: Timer | null = null;
  private isReady = false;

  constructor(private readonly ports: MonitoringPorts) {
    const { listen, status, lostLogLines } = ports;
    this.probe = listen === null ? null : startLoopDelayProbe();
    this.metrics = this.probe === null ? null : new DaemonMetrics({ status, lostLogLines, loopDelay: this.probe });
  }

  observe(event: SupervisorEvent): void {
    this.metrics?.observe(event);
  }

  /** The address that is listened on; null when nothing is. */
  async open(): Promise<string | null> {
    const { listen, notifier } = this.ports;
    const { metrics } = this;
    if (listen !== null && metrics !== null) {
      this.server = await startStatusServer({
        ...listen,
        metrics: () => metrics.registry.exposition(),
        health: () => ({ isOk: true, details: { pid: process.pid } }),
        readiness: () => ({ isOk: this.isReady, details: { jobs: this.ports.status().jobs } }),
      });
    }
    this.isReady = true;
    notifier.ready(`${this.ports.status().jobs} jobs`);
    this.beat();
    return this.server === null ? null : `${this.server.host}:${this.server.port}`;
  }

  reloading(): void {
    this.ports.notifier.reloading();
  }

  reloaded(): void {
    this.ports.notifier.ready(`${this.ports.status().jobs} jobs`);
  }

  /** Draining: alive, but nothing is scheduled any more. */
  stopping(): void {
    this.isReady = false;
    this.ports.notifier.stopping();
  }

  async close(): Promise<void> {
    this.heartbeat?.cancel();
    this.probe?.stop();
    await this.server?.close();
    await this.ports.notifier.close();
  }

  /** From the loop that schedules: when that hangs, systemd is to know. */
  private beat(): void {
    const { clock, notifier } = this.ports;
    if (notifier.watchdogMs === null) return;
    notifier.watchdog();
    this.heartbeat = clock.after(notifier.watchdogMs, () => this.beat());
  }
}
