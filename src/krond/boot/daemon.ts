/**
 * The daemon while it runs, and how it ends: everything is taken apart in the opposite order of its start. It decides
 * nothing: it tells the phase what happens, and carries out what the phase makes of that.
 */

import { type Clock, systemClock, type Timer } from "../../actors/clock.js";
import type { Messenger } from "../../actors/messenger/messenger.js";
import type { Phase } from "../../actors/phase.js";
import type { DecisionPool, DefinitionSet } from "../../actors/pool/types.js";
import { hostFindings } from "../../actors/preflight/findings.js";
import type { HostCheck } from "../../actors/preflight/host-check.js";
import type { Runner } from "../../actors/runner/port.js";
import type { PlannedReload, PlanReport, Supervisor } from "../../actors/supervisor/port.js";
import type { AddressPolicy } from "../../core/base/address.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { LocatedJob } from "../../core/config/located.js";
import type { Settings } from "../../core/config/settings.js";
import { exitStatus, type SupervisorEvent } from "../../machines/supervisor-logic.js";
import { hasFailed, mayStart } from "../../machines/supervisor-phase.js";
import type { StorePlace } from "../../persist/backends.js";
import type { ConfigCheck, ConfigSource } from "../../persist/configuration.js";
import type { LockTerm } from "../../persist/lock.js";
import type { StateStore } from "../../persist/store.js";
import { ControlServer } from "../control/server.js";
import type { Inspection, InspectOptions } from "../inspect/seam.js";
import { type DaemonLog, errorEvent, fatalEvent } from "../log/log.js";
import type { ListenAddress, Monitoring } from "../monitor/monitoring.js";
import type { ReloadReport } from "../reload-report.js";
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
import { START_CHECK_LIMITS, StartCheck } from "./start-check.js";
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
  /** For whoever has something to tell it before there is a daemon, such as that it is to stop. */
  readonly phase?: Phase;
}

/** What a reload would put in force. */
interface Read {
  readonly configuration: DaemonConfiguration;
  readonly planned: PlannedReload;
}

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
  readonly phase: Phase;
  readonly inspection: Inspection | null;
  /** Where metrics and health are asked for. */
  readonly address: string | null;
  readonly loader: ConfigurationLoader;
  readonly pool: DecisionPool;
  readonly messenger: Messenger;
  /** Finds out what this host could not start. */
  readonly newHostCheck: () => HostCheck;
}

export class Daemon {
  /** Resolves with the exit status when everything is closed. */
  readonly ended: Promise<number>;
  readonly stateDirectory: string;
  private readonly control: ControlServer;
  private readonly startCheck: StartCheck;
  private end: (exitCode: number) => void = () => undefined;
  private stopHousekeeping: () => void = () => undefined;
  private doors: Readonly<Record<string, string>> = {};
  private files: DaemonConfiguration["files"] = [];
  private drainBound: Timer | null = null;
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
    this.startCheck = new StartCheck({
      ...parts,
      log: options.log,
      newCheck: parts.newHostCheck,
      mayStart: () => mayStart(parts.phase.snapshot),
    });
    this.control = new ControlServer(socketPathIn(this.stateDirectory), {
      supervisor: parts.supervisor,
      store: parts.store,
      clock: parts.clock,
      stateDirectory: this.stateDirectory,
      settings: () => this.settings,
      reload: () => this.reload(),
      plan: (onThisHost) => this.plan(onThisHost),
      isStopping: () => !mayStart(parts.phase.snapshot),
      // Whoever does not want to wait any longer for a graceful stop asks for a plain one.
      stop: (graceful) => parts.phase.tell(graceful ? { type: "DRAIN", waitsForRuns: true } : { type: "STOP" }),
    });
  }

  /** Everything by which it is reached. */
  async open(configuration: DaemonConfiguration): Promise<void> {
    const { address: metrics, clock, inspection, phase, store, supervisor, term } = this.parts;
    this.stopHousekeeping = startHousekeeping({
      clock,
      store,
      term,
      ledger: () => this.settings.ledger,
      jobs: () => supervisor.status().jobs,
      mayStart: () => mayStart(phase.snapshot),
      onFailure: (error) => phase.fail(error),
    });
    await this.shown(configuration);
    this.doors = { ...(metrics === null ? {} : { metrics }), ...(inspection && { inspect: await inspection.open() }) };
    this.files = configuration.files;
    // The last of them: whoever comes in by it finds a daemon that answers for itself.
    await this.control.listen();
  }

  /** From here on it answers for itself. */
  begin(): void {
    const { messenger, monitoring, phase, supervisor } = this.parts;
    phase.carryOut({
      stopScheduling: () => {
        this.stopHousekeeping();
        messenger.close();
      },
      drain: (event) => this.drain(event),
      closeStore: () => void this.close().catch((error: unknown) => phase.fail(error)),
      reportError: () => (hasFailed(phase.snapshot) ? void this.fail(phase.trouble) : this.keepOn(phase.trouble)),
      end: (event) => this.leave(event),
    });
    phase.tell({ type: "READY" });
    messenger.use(this.settings);
    messenger.open().catch((error: unknown) => phase.fail(error));
    monitoring.ready();
    const { jobs } = supervisor.status();
    const about = { pid: process.pid, jobs, files: this.files, state: this.stateDirectory };
    this.say("ready", "info", { ...about, ...this.doors });
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

  async plan(onThisHost: boolean): Promise<ReloadReport> {
    const { configuration, planned } = await this.wanted(onThisHost);
    const { findings, located } = configuration;
    const report = { plan: planned.report, findings, kept: planned.kept };
    if (!onThisHost || located === null) return report;
    const host = await hostFindings(locatedJobs(located), this.parts.newHostCheck(), START_CHECK_LIMITS.looks);
    return { ...report, notStartable: host.findings };
  }

  /** S24, ahead of time: in the background, and nothing is refused for it. */
  checkStart(): void {
    const { phase } = this.parts;
    this.startCheck.run().catch((error: unknown) => {
      if (!mayStart(phase.snapshot)) return;
      this.options.log.daemon(errorEvent(error, { component: "executor", operation: "check" }, systemClock.now()));
    });
  }

  /** What goes wrong with it is for the phase to judge (S16, S35): it leaves everything as it was, or ends the daemon. */
  private async reloadNow(): Promise<ReloadReport> {
    const { monitoring, phase } = this.parts;
    const reading = phase.request({ type: "RELOAD" }, "reloadConfiguration", () => {
      monitoring.reloading();
      return this.wanted();
    });
    if (reading === null) throw stopping();
    try {
      const read = await reading;
      const changed = phase.request({ type: "READ" }, "changeDefinitions", () => this.carryOut(read));
      if (changed === null) throw stopping();
      return await changed;
    } catch (error) {
      phase.reject(error);
      throw error;
    } finally {
      monitoring.reloadEnded();
    }
  }

  private async carryOut({ configuration, planned }: Read): Promise<ReloadReport> {
    logFindings(this.options.log, configuration.findings, "reload");
    const settings = configuration.isIncomplete ? this.settings : configuration.settings;
    const plan = await this.apply(configuration, planned, settings);
    this.settings = settings;
    this.parts.messenger.use(settings);
    await this.shown(configuration);
    await trimMemory();
    this.parts.phase.tell({ type: configuration.findings.length === 0 ? "RELOADED" : "REJECTED" });
    this.checkStart();
    return { plan, findings: configuration.findings, kept: planned.kept };
  }

  private keepOn(cause: unknown): void {
    this.parts.monitoring.configurationRead(1, true);
    const event = errorEvent(cause, { component: "config", operation: "reload" }, systemClock.now());
    const hint = "the configuration in force stays as it is; reload again when the trouble is over";
    this.options.log.daemon({ ...event, fields: { ...event.fields, hint } });
  }

  /** As long as definitions are changing, nobody could say what those on record are made of. */
  private async apply(
    { wanted, manifest }: DaemonConfiguration,
    planned: PlannedReload,
    settings: Settings,
  ): Promise<PlanReport> {
    const { store, term } = this.parts;
    if (wanted === "as-stored") return planned.apply(settings);
    await store.commit(term, { meta: [manifestNote(null)] });
    const plan = await planned.apply(settings);
    if (manifest !== null) await store.commit(term, { meta: [manifestNote(manifest)] });
    return plan;
  }

  /** S20: nobody is to find out by a run that is missing. Files that have not changed were told of when they were read. */
  private async shown({ findings, isIncomplete }: DaemonConfiguration): Promise<void> {
    const { monitoring, store, supervisor } = this.parts;
    monitoring.configurationRead(findings.length, isIncomplete);
    // Where nobody asked for single jobs, none is looked at: spelling a million names would hold up the loop.
    if ((this.options.metricsJobs ?? []).length > 0) await monitoring.jobsAre(supervisor.identities(), store);
  }

  /** S35: an invalid job keeps its definition; where a whole file cannot be read, every job that is missing does. */
  private async wanted(anew = false): Promise<Read> {
    const { loader, store, supervisor } = this.parts;
    const configuration = await loadDaemonConfiguration(loader, anew ? null : await storedManifest(store));
    const planned = await supervisor.plan(configuration.wanted, (identity) => configuration.keeps(identity));
    return { configuration, planned };
  }

  /** SIGHUP. What goes wrong with it is dealt with where it does. */
  async hangUp(): Promise<void> {
    if (mayStart(this.parts.phase.snapshot)) await this.reload().catch(() => undefined);
  }

  /** S29: what runs goes on; a graceful drain waits for it, and has no bound. */
  private drain(event: SupervisorEvent | null): void {
    const { clock, monitoring, phase } = this.parts;
    const { waitsForRuns: graceful } = phase.snapshot.context;
    this.say("draining", "info", { ...signalOf(event), graceful });
    monitoring.stopping();
    if (!graceful) this.drainBound = clock.after(DRAIN_BOUND_MS, () => phase.fail(endless()));
  }

  private async close(): Promise<void> {
    const { inspection, monitoring, phase, pool, runner, store, term } = this.parts;
    this.drainBound?.cancel();
    await inspection?.close();
    this.control.hide();
    await pool.close();
    await runner.close();
    await store.close();
    await monitoring.close();
    this.say("stopped", "info", {});
    // Before the last connection ends: whoever waits for that may start the next daemon at once.
    term.release();
    await this.control.close();
    phase.tell({ type: "CLOSED" });
  }

  /** Asked a second time, its gates close with the process; what was claimed is found again by the next start. */
  private leave(event: SupervisorEvent | null): void {
    this.drainBound?.cancel();
    const reason = "asked a second time: stopping at once";
    if (event?.type === "STOP") this.say("stopped", "warn", { ...signalOf(event), reason });
    this.end(exitStatus(this.parts.phase.snapshot.context));
  }

  /** Going on could start something twice: gates are closed, the reason is said, and the process ends. */
  private async fail(cause: unknown): Promise<void> {
    const { clock, monitoring, phase, runner } = this.parts;
    this.drainBound?.cancel();
    monitoring.vitals.failed(cause);
    this.options.log.daemon(fatalEvent(cause, { component: "scheduler", operation: "run" }, systemClock.now()));
    const closing = runner.close().catch(() => undefined);
    await Promise.race([closing, new Promise((resolve) => clock.after(CLOSE_BOUND_MS, () => resolve(null)))]);
    this.end(exitStatus(phase.snapshot.context));
  }

  private say(event: string, level: "info" | "warn", fields: Readonly<Record<string, unknown>>): void {
    this.options.log.daemon({ at: systemClock.now(), event, component: "scheduler", level, fields });
  }
}

function* locatedJobs(located: DefinitionSet): Generator<LocatedJob> {
  for (let index = 0; index < located.size; index++) {
    yield { definition: located.definitionAt(index), ...located.placeAt(index) };
  }
}

function signalOf(event: SupervisorEvent | null): { readonly signal?: string } {
  return event?.type === "STOP" && event.signal !== undefined ? { signal: event.signal } : {};
}

function stopping(): Error {
  return new Error("the daemon is stopping");
}

/** Draining waits for claims under way, never for runs. What takes longer than that has gone wrong. */
function endless(): KronError {
  const details = { component: "scheduler", operation: "drain" } as const;
  return new KronError("invariant-broken", "what is under way does not come to an end", details);
}
