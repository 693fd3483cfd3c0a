/**
 * The daemon while it runs, and how it ends: everything is taken apart in the opposite order of its start. It decides
 * nothing: what a signal or a request means and which exit status follows is all there is here.
 */
import { type Clock, systemClock, type Timer } from "../../actors/clock.js";
import type { DecisionPool } from "../../actors/pool/types.js";
import type { Runner } from "../../actors/runner/port.js";
import type { PlanReport, Supervisor } from "../../actors/supervisor/port.js";
import type { AddressPolicy } from "../../core/base/address.js";
import { exitStatusOf } from "../../core/base/errors/exit-status.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { errorKind } from "../../core/base/errors/registry.js";
import type { Settings } from "../../core/config/settings.js";
import type { StorePlace } from "../../persist/backends.js";
import type { ConfigCheck, ConfigFinding, ConfigSource } from "../../persist/configuration.js";
import type { LockTerm } from "../../persist/lock.js";
import type { StateStore } from "../../persist/store.js";
import { ControlServer } from "../control/server.js";
import type { Inspection, InspectOptions } from "../inspect/seam.js";
import { type DaemonLog, errorEvent, fatalEvent } from "../log/log.js";
import type { ListenAddress, Monitoring } from "../monitor/monitoring.js";
import { socketPathIn } from "../state/directory.js";
import { startHousekeeping } from "../state/housekeeping.js";
import {
  type ConfigurationLoader,
  type DaemonConfiguration,
  loadDaemonConfiguration,
  manifestNote,
  storedManifest,
} from "./configuration.js";
import { logFindings } from "./finding-lines.js";
import type { Lifecycle } from "./lifecycle.js";
import { trimMemory } from "./trim-memory.js";

export interface DaemonOptions {
  readonly sources: readonly ConfigSource[];
  /** Who may have written the configuration; null trusts everybody. */
  readonly trust: (() => ConfigCheck) | null;
  readonly stateDirectory: string;
  readonly store: StorePlace;
  readonly log: DaemonLog & { readonly lostLines?: number };
  /** Where metrics and health are asked for; null: nowhere. */
  readonly metrics: ListenAddress | null;
  /** Jobs with metrics of their own, as patterns of identities. */
  readonly metricsJobs?: readonly string[];
  /** Below it each run gets a control group of its own; null: runs have none. */
  readonly cgroupRoot?: string | null;
  /** Where requests may go, besides what the files say. */
  readonly permit?: Partial<AddressPolicy>;
  /** Where inspectors attach; null: nowhere. */
  readonly inspect?: InspectOptions | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told of the threads that the start uses: whoever ends the process before there is a daemon must close them. */
  onPool?(pool: DecisionPool): void;
}

export interface ReloadReport {
  readonly plan: PlanReport;
  readonly findings: readonly ConfigFinding[];
  /** Jobs that keep the definition they had, because the new one is invalid or may only be missing (S35). */
  readonly kept: readonly string[];
}

/** What a reload would put in force. */
interface Read {
  readonly configuration: DaemonConfiguration;
  readonly plan: PlanReport;
  readonly kept: readonly string[];
}

const EXIT_OK = 0;
const EXIT_FATAL = 5;
/** How long the launchers may take to close their gates when something fatal happened; they do it by themselves too. */
const CLOSE_BOUND_MS = 2_000;
/** Longer than the slowest disk needs for a commit and a launcher for its gates. */
const DRAIN_BOUND_MS = 60_000;

export interface DaemonParts {
  /** By which jobs run; a line of the log says the machine's own time where it is not about one. */
  readonly clock: Clock;
  readonly term: LockTerm;
  readonly store: StateStore;
  readonly runner: Runner;
  readonly supervisor: Supervisor;
  readonly monitoring: Monitoring;
  readonly lifecycle: Lifecycle;
  readonly inspection: Inspection | null;
  /** Where metrics and health are asked for. */
  readonly address: string | null;
  readonly loader: ConfigurationLoader;
  readonly pool: DecisionPool;
}

export class Daemon {
  /** Resolves with the exit status when everything is closed. */
  readonly ended: Promise<number>;
  readonly stateDirectory: string;
  private readonly control: ControlServer;
  private end: (exitCode: number) => void = () => undefined;
  private stopHousekeeping: () => void = () => undefined;
  private isStopping = false;
  private hasFailed = false;
  private lastReload: Promise<unknown> = Promise.resolve();
  private waitingReload: Promise<ReloadReport> | null = null;

  constructor(
    private readonly options: DaemonOptions,
    private readonly parts: DaemonParts,
    private settings: Settings,
  ) {
    this.stateDirectory = options.stateDirectory;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    this.control = new ControlServer(socketPathIn(this.stateDirectory), {
      supervisor: parts.supervisor,
      store: parts.store,
      clock: parts.clock,
      stateDirectory: this.stateDirectory,
      settings: () => this.settings,
      reload: () => this.reload(),
      plan: () => this.plan(),
      isStopping: () => this.isStopping,
      stop: (graceful) => {
        // Whoever does not want to wait any longer for a graceful stop asks for a plain one.
        if (this.isStopping && !graceful) this.endAtOnce({});
        else void this.stop(graceful);
      },
    });
    void parts.supervisor.failed.then((error) => this.fail(error));
    void parts.term.lost.then((error) => this.fail(error));
  }

  async open(configuration: DaemonConfiguration): Promise<void> {
    const { files } = configuration;
    await this.control.listen();
    this.stopHousekeeping = startHousekeeping({
      clock: this.parts.clock,
      store: this.parts.store,
      term: this.parts.term,
      ledger: () => this.settings.ledger,
      jobs: () => this.parts.supervisor.status().jobs,
      onFailure: (error) => void this.fail(error),
    });
    await this.shown(configuration);
    this.parts.monitoring.ready();
    const about = { pid: process.pid, jobs: this.parts.supervisor.status().jobs, files, state: this.stateDirectory };
    const { address: metrics, inspection } = this.parts;
    const doors = { ...(metrics === null ? {} : { metrics }), ...(inspection && { inspect: await inspection.open() }) };
    this.say("ready", "info", { ...about, ...doors });
    await trimMemory();
  }

  /** What `open` has opened. */
  async closeDoors(): Promise<void> {
    this.stopHousekeeping();
    await this.control.close();
  }

  /** One after another; whoever asks while one waits for its turn gets that one. */
  reload(): Promise<ReloadReport> {
    if (this.waitingReload !== null) return this.waitingReload;
    const reloaded = this.lastReload.then(() => {
      this.waitingReload = null;
      return this.reloadNow();
    });
    this.waitingReload = reloaded;
    this.lastReload = reloaded.catch(() => undefined);
    return reloaded;
  }

  async plan(): Promise<ReloadReport> {
    const { configuration, plan, kept } = await this.wanted();
    const removed = plan.removed.filter((identity) => !kept.includes(identity));
    const unchanged = plan.unchanged + plan.removed.length - removed.length;
    return { plan: { ...plan, removed, unchanged }, findings: configuration.findings, kept };
  }

  /**
   * Until the first definition is told nothing has changed, so that whatever goes wrong before leaves everything as it was
   * (S16, S35). From then on a failure is one of the store, or a defect: nobody could say what is in force.
   */
  private async reloadNow(): Promise<ReloadReport> {
    const { lifecycle, monitoring } = this.parts;
    lifecycle.tell({ type: "RELOAD" });
    monitoring.reloading();
    let isChanging = false;
    try {
      const read = await this.wanted();
      if (this.isStopping) throw new Error("the daemon is stopping");
      isChanging = true;
      return await this.carryOut(read);
    } catch (error) {
      if (isChanging || isFatal(error)) await this.fail(error);
      else this.keepOn(error);
      throw error;
    } finally {
      monitoring.reloadEnded();
    }
  }

  private async carryOut({ configuration, kept }: Pick<Read, "configuration" | "kept">): Promise<ReloadReport> {
    logFindings(this.options.log, configuration.findings, "reload");
    const settings = configuration.isIncomplete ? this.settings : configuration.settings;
    const plan = await this.apply(configuration, settings, kept);
    this.settings = settings;
    await this.shown(configuration);
    await trimMemory();
    this.parts.lifecycle.tell({ type: configuration.findings.length === 0 ? "RELOADED" : "REJECTED" });
    return { plan, findings: configuration.findings, kept };
  }

  /** Whoever stops the daemon meanwhile takes away what a reload is read with: that is no trouble. */
  private keepOn(cause: unknown): void {
    if (this.isStopping) return;
    const { lifecycle, monitoring } = this.parts;
    lifecycle.tell({ type: "REJECTED" });
    monitoring.configurationRead(1, true);
    const event = errorEvent(cause, { component: "config", operation: "reload" }, systemClock.now());
    const hint = "the configuration in force stays as it is; reload again when the trouble is over";
    this.options.log.daemon({ ...event, fields: { ...event.fields, hint } });
  }

  /** As long as definitions are changing, nobody could say what those on record are made of. */
  private async apply(
    { wanted, manifest }: DaemonConfiguration,
    settings: Settings,
    kept: readonly string[],
  ): Promise<PlanReport> {
    const { supervisor, store, term } = this.parts;
    if (wanted === "as-stored") return supervisor.reload(wanted, settings, kept);
    await store.commit(term, { meta: [manifestNote(null)] });
    const plan = await supervisor.reload(wanted, settings, kept);
    if (manifest !== null) await store.commit(term, { meta: [manifestNote(manifest)] });
    return plan;
  }

  private async shown({ findings, isIncomplete }: DaemonConfiguration): Promise<void> {
    const { monitoring, store, supervisor } = this.parts;
    monitoring.configurationRead(findings.length, isIncomplete);
    // Where nobody asked for single jobs, none is looked at: spelling a million names would hold up the loop.
    if ((this.options.metricsJobs ?? []).length > 0) await monitoring.jobsAre(supervisor.identities(), store);
  }

  /** S35: an invalid job keeps its definition; where a whole file cannot be read, every job that is missing does. */
  private async wanted(): Promise<Read> {
    const { loader, store, supervisor } = this.parts;
    const configuration = await loadDaemonConfiguration(loader, await storedManifest(store));
    const plan = await supervisor.plan(configuration.wanted);
    const kept = plan.removed.filter((identity) => configuration.keeps(identity));
    return { configuration, plan, kept };
  }

  /** SIGHUP. What goes wrong with it is dealt with where it does. */
  async hangUp(): Promise<void> {
    if (!this.isStopping) await this.reload().catch(() => undefined);
  }

  /** SIGTERM and SIGINT: drain; the second time, at once. */
  interrupt(signal: string): void {
    if (this.isStopping) this.endAtOnce({ signal });
    else void this.stop(false, signal);
  }

  /** Its gates close with the process; what was claimed is found again by the next start. */
  private endAtOnce(fields: Readonly<Record<string, unknown>>): void {
    this.parts.lifecycle.tell({ type: "STOP" });
    this.say("stopped", "warn", { ...fields, reason: "asked a second time: stopping at once" });
    this.end(EXIT_OK);
  }

  /** S29: what runs goes on; `graceful` waits for it. */
  async stop(graceful: boolean, signal: string | null = null): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    this.parts.lifecycle.tell({ type: "DRAIN", waitsForRuns: graceful });
    this.say("draining", "info", { ...(signal === null ? {} : { signal }), graceful });
    try {
      this.stopHousekeeping();
      this.parts.monitoring.stopping();
      await this.drained(graceful);
      this.parts.lifecycle.tell({ type: "DRAINED" });
      await this.parts.inspection?.close();
      this.control.hide();
      await this.parts.pool.close();
      await this.parts.runner.close();
      await this.parts.store.close();
      await this.parts.monitoring.close();
      this.say("stopped", "info", {});
      // Before the last connection ends: whoever waits for that may start the next daemon at once.
      this.parts.term.release();
      await this.control.close();
      this.end(EXIT_OK);
    } catch (error) {
      await this.fail(error);
    }
  }

  /** Draining waits for claims under way, never for runs. What takes longer than that has gone wrong. */
  private async drained(graceful: boolean): Promise<void> {
    const stopped = this.parts.supervisor.stop({ graceful });
    if (graceful) return stopped;
    let timer: Timer | null = null;
    const late = new Promise<never>((_, reject) => {
      const details = { component: "scheduler", operation: "drain" } as const;
      const error = new KronError("invariant-broken", "what is under way does not come to an end", details);
      timer = this.parts.clock.after(DRAIN_BOUND_MS, () => reject(error));
    });
    try {
      await Promise.race([stopped, late]);
    } finally {
      (timer as Timer | null)?.cancel();
    }
  }

  /** Going on could start something twice: gates are closed, the reason is said, and the process ends. */
  async fail(cause: unknown): Promise<void> {
    if (this.hasFailed) return;
    this.hasFailed = true;
    this.parts.lifecycle.fail(cause);
    this.parts.monitoring.vitals.failed(cause);
    this.options.log.daemon(fatalEvent(cause, { component: "scheduler", operation: "run" }, systemClock.now()));
    const closing = this.parts.runner.close().catch(() => undefined);
    await Promise.race([
      closing,
      new Promise((resolve) => this.parts.clock.after(CLOSE_BOUND_MS, () => resolve(null))),
    ]);
    this.end(cause instanceof KronError ? exitStatusOf(cause.code) : EXIT_FATAL);
  }

  private say(event: string, level: "info" | "warn", fields: Readonly<Record<string, unknown>>): void {
    this.options.log.daemon({ at: systemClock.now(), event, component: "scheduler", level, fields });
  }
}

/** What is no KronError has no code that could say so: a defect, and as long as nothing was changed not a deadly one. */
function isFatal(error: unknown): boolean {
  return error instanceof KronError && errorKind(error.code).fatal;
}
