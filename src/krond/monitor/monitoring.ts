/** What machines that watch machines get: metrics, health, readiness, and systemd's heartbeat. */
import type { Clock, Timer } from "../../actors/clock.js";
import type { OpenDoor } from "../../actors/doors/listen.js";
import type { DaemonStatus, Supervisor } from "../../actors/supervisor/port.js";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { type IdentityFilter, identityFilter } from "../../core/job/identity-glob.js";
import { SECOND_MS } from "../../core/time/instant.js";
import type { HealthPhase } from "../../machines/supervisor-phase.js";
import type { StateStore } from "../../persist/store.js";
import type { Notifier } from "../boot/notify.js";
import { CommitMeter } from "../state/observed-store.js";
import { JobSeries } from "./job-series.js";
import { type LoopDelayProbe, startLoopDelayProbe } from "./loop-delay.js";
import { type LoopDelayReport, LoopWatch, systemLoopGauge } from "./loop-watch.js";
import { DaemonMetrics, type NodeGauges, type NotificationResult } from "./metrics.js";
import { startStatusServer } from "./status-server.js";
import { Vitals } from "./vitals.js";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

interface MonitoringPorts {
  readonly clock: Clock;
  readonly notifier: Notifier;
  /** null: nothing listens. */
  readonly listen: ListenAddress | null;
  /** Jobs with series of their own, as patterns. */
  readonly ownSeries: readonly string[];
  phase(): HealthPhase;
  lostLogLines(): number;
  onLoopDelay(report: LoopDelayReport): void;
}

/** What is asked once there is a supervisor. */
interface Watched extends Pick<Supervisor, "list"> {
  status(): Pick<DaemonStatus, "jobs" | "active" | "nextDueAt">;
}

const NOTHING_YET: Watched = { status: () => ({ jobs: 0, active: 0, nextDueAt: null }), list: async () => [] };

export class Monitoring {
  readonly vitals: Vitals;
  readonly #loop: LoopWatch;
  readonly #commits: CommitMeter;
  readonly #probe: LoopDelayProbe | null;
  readonly #metrics: DaemonMetrics | null;
  readonly #series: JobSeries | null;
  #watched: Watched = NOTHING_YET;
  #waitingNotices: () => number = () => 0;
  #server: OpenDoor | null = null;
  #heartbeat: Timer | null = null;
  #reloaded: (() => void) | null = null;
  #started: (() => void) | null = null;
  readonly #ports: MonitoringPorts;
  readonly #commitWatchers = new Set<(durationMs: number) => void>();

  constructor(ports: MonitoringPorts) {
    this.#ports = ports;
    const { clock, listen, lostLogLines, onLoopDelay } = ports;
    const status = (): ReturnType<Watched["status"]> => this.#watched.status();
    const hasOwnSeries: IdentityFilter = identityFilter(ports.ownSeries);
    this.#probe = listen === null ? null : startLoopDelayProbe();
    const waitingNotices = (): number => this.#waitingNotices();
    this.#metrics =
      this.#probe === null
        ? null
        : new DaemonMetrics({ status, lostLogLines, loopDelay: this.#probe, hasOwnSeries, waitingNotices });
    this.#series = this.#metrics === null ? null : new JobSeries(hasOwnSeries, this.#metrics);
    this.#loop = new LoopWatch({ clock, gauge: systemLoopGauge(clock), onDelay: onLoopDelay });
    this.#commits = new CommitMeter(clock, {
      committed: (durationMs) => {
        this.#metrics?.committed(durationMs / SECOND_MS);
        for (const tell of this.#commitWatchers) tell(durationMs);
      },
      held: (what, heldMs) => this.#loop.holding(what, heldMs),
      failed: () => this.vitals.storeFailed(),
    });
    this.vitals = new Vitals({
      clock,
      phase: ports.phase,
      nextDueAt: () => status().nextDueAt,
      jobs: () => status().jobs,
      oldestCommitMs: () => this.#commits.oldestMs(),
      stalledMs: () => this.#loop.stalledMs(),
    });
  }

  observe(event: SupervisorEvent): void {
    this.#metrics?.observe(event);
    if (event.identity !== undefined) this.#loop.dealtWith(event.identity);
  }

  watchCommits(listener: (durationMs: number) => void): () => void {
    this.#commitWatchers.add(listener);
    return () => this.#commitWatchers.delete(listener);
  }

  observed(store: StateStore): StateStore {
    return this.#commits.observed(store);
  }

  /** Answers from here on, while the daemon still starts. Gives the address; null when nothing listens. */
  async listen(): Promise<string | null> {
    this.#loop.start();
    this.#started = this.#loop.during("the start");
    const { listen } = this.#ports;
    const metrics = this.#metrics;
    if (listen === null || metrics === null) return null;
    this.#server = await startStatusServer({
      ...listen,
      metrics: async () => {
        await this.#series?.collect(this.#watched, this.#ports.clock.now());
        return metrics.registry.exposition();
      },
      health: () => this.vitals.health(),
      readiness: () => this.vitals.readiness(),
    });
    return `${this.#server.host}:${this.#server.port}`;
  }

  /** Whoever brings messages to people. */
  watchNotices(messenger: { readonly waiting: number }): void {
    this.#waitingNotices = () => messenger.waiting;
  }

  /** Of a daemon among others. */
  watchNode(facts: () => NodeGauges): void {
    this.#metrics?.watchNode(facts);
  }

  notified(result: NotificationResult): void {
    this.#metrics?.notified(result);
  }

  watch(watched: Watched): void {
    this.#watched = watched;
  }

  /** The jobs in force, of which some may have series of their own. */
  async jobsAre(identities: Iterable<string>, store: StateStore): Promise<void> {
    await this.#series?.jobsAre(identities, store);
  }

  /** At the start, and with every reload. */
  configurationRead(problems: number, isIncomplete: boolean): void {
    this.vitals.configurationRead(problems, isIncomplete);
    this.#metrics?.configurationRead(this.#ports.clock.now(), problems);
  }

  ready(): void {
    this.#started?.();
    this.#ports.notifier.ready(`${this.#watched.status().jobs} jobs`);
    this.#beat();
  }

  reloading(): void {
    this.#reloaded = this.#loop.during("a reload");
    this.#ports.notifier.reloading();
  }

  reloadEnded(): void {
    this.#reloaded?.();
    if (this.#ports.phase() === "running") this.#ports.notifier.ready(`${this.#watched.status().jobs} jobs`);
  }

  /** Draining: alive, but nothing is scheduled any more. */
  stopping(): void {
    this.#ports.notifier.stopping();
  }

  async close(): Promise<void> {
    this.#heartbeat?.cancel();
    this.#loop.stop();
    this.#probe?.stop();
    await this.#server?.close();
    await this.#ports.notifier.close();
  }

  /** From the loop that schedules, and only while it is well: when it hangs, systemd is to know. */
  #beat(): void {
    const { clock, notifier } = this.#ports;
    if (notifier.watchdogMs === null) return;
    if (this.vitals.health().isOk) notifier.watchdog();
    this.#heartbeat = clock.after(notifier.watchdogMs, () => this.#beat());
  }
}
