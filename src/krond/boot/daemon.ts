/**
 * The daemon while it runs, and how it ends: everything is taken apart in the opposite order of its start. It decides
 * nothing: it tells the phase what happens, and carries out what the phase makes of that.
 */

import { systemClock, type Timer } from "../../actors/clock.js";
import { SHARED_DEFINITIONS } from "../../actors/cluster/shared-definitions.js";
import { ClusterUnderWay } from "../../actors/cluster/turns.js";
import { NamedTurns } from "../../actors/named-turns.js";
import { hostFindings } from "../../actors/preflight/findings.js";
import type { PlannedReload, PlanReport } from "../../actors/supervisor/port.js";
import { UnderWay } from "../../actors/under-way.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Settings } from "../../core/config/settings.js";
import { exitStatus, type SupervisorEvent } from "../../machines/supervisor-logic.js";
import { hasFailed, mayStart } from "../../machines/supervisor-phase.js";
import type { DoorPorts } from "../../operations/door.js";
import { settleAll } from "../../operations/endpoints/change.js";
import { LoginCodes } from "../../operations/page/login-codes.js";
import { lookAt } from "../../operations/planner/look.js";
import type { Acting } from "../../operations/ports.js";
import type { ObjectWrite } from "../../persist/store.js";
import { planAnswer } from "../control/plan-answer.js";
import { ControlServer } from "../control/server.js";
import { errorEvent, fatalEvent } from "../log/log.js";
import type { Monitoring } from "../monitor/monitoring.js";
import type { ReloadReport } from "../reload-report.js";
import { socketPathIn } from "../state/directory.js";
import { startHousekeeping } from "../state/housekeeping.js";
import { auditTrail } from "./audit-trail.js";
import {
  type DaemonConfiguration,
  loadDaemonConfiguration,
  locatedJobs,
  manifestNote,
  placed,
  storedManifest,
} from "./configuration.js";
import type { DaemonOptions, DaemonParts } from "./daemon-parts.js";
import { Doors } from "./doors.js";
import { logFindings } from "./finding-lines.js";
import { nodelessLine } from "./nodeless.js";
import { sharedDefinitions } from "./shared.js";
import { START_CHECK_LIMITS, StartCheck } from "./start-check.js";
import { trimMemorySoon } from "./trim-memory.js";
import { watching } from "./watching.js";

/** What a reload would put in force. */
interface Read {
  readonly configuration: DaemonConfiguration;
  readonly planned: PlannedReload;
}

/** How long the launchers may take to close their gates when something fatal happened; they do it by themselves too. */
const CLOSE_BOUND_MS = 2_000;
/** How often it is looked for what another node has left between two states. */
const SETTLED_EVERY_MS = 30_000;
/** Longer than the slowest disk needs for a commit and a launcher for its gates. */
const DRAIN_BOUND_MS = 60_000;

export class Daemon {
  /** Resolves with the exit status when everything is closed. */
  readonly ended: Promise<number>;
  readonly stateDirectory: string;
  readonly #acting: Acting;
  readonly #control: ControlServer;
  readonly #doors: Doors;
  readonly #startCheck: StartCheck;
  #end: (exitCode: number) => void = () => undefined;
  #stopHousekeeping: () => void = () => undefined;
  #addresses: Readonly<Record<string, string>> = {};
  #files: DaemonConfiguration["files"] = [];
  #drainBound: Timer | null = null;
  #settler: Timer | null = null;
  #lastReload: Promise<unknown> = Promise.resolve();
  #waitingReload: Promise<ReloadReport> | null = null;
  readonly #options: DaemonOptions;
  readonly #parts: DaemonParts;
  #settings: Settings;

  constructor(options: DaemonOptions, parts: DaemonParts, settings: Settings) {
    this.#options = options;
    this.#parts = parts;
    this.#settings = settings;
    this.stateDirectory = options.stateDirectory;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#startCheck = new StartCheck({
      ...parts,
      log: options.log,
      newCheck: () => parts.newHostCheck(this.#settings),
      mayStart: () => mayStart(parts.phase.snapshot),
    });
    parts.shared?.settings.listen((now) => this.#use(now));
    this.#acting = this.#ports();
    this.#doors = new Doors(options.doors ?? [], options.log);
    this.#control = new ControlServer(socketPathIn(this.stateDirectory), this.#acting);
  }

  /** What everything that is asked of it needs. */
  #ports(): Acting {
    const { among, clock, messenger, phase, planners, recent, shared, store, supervisor, term } = this.#parts;
    const turns = shared?.turns ?? new NamedTurns();
    const { health, quotas, workers, secrets } = this.#parts.books;
    return {
      supervisor,
      health,
      quotas,
      audit: auditTrail(this.#parts, (objects) => this.#write(objects)),
      workers: among?.workers ?? workers,
      logins: new LoginCodes(systemClock),
      ...watching(this.#parts),
      planners: planners.known,
      messenger,
      term,
      putting: shared === null ? new UnderWay() : new ClusterUnderWay(shared.turns),
      recent,
      seal: (text) => secrets.seal(text),
      jobs: supervisor,
      among,
      identities: () => supervisor.identities(),
      reader: store,
      now: () => clock.now(),
      stateDirectory: this.stateDirectory,
      addresses: () => this.#settings.http,
      write: (objects) => this.#write(objects),
      inTurn: (name, act) => turns.take(name, act),
      ledger: () => this.#settings.ledger,
      reload: async () => planAnswer(await this.reload()),
      plan: async (onThisHost) => planAnswer(await this.plan(onThisHost)),
      presence: () => (mayStart(phase.snapshot) ? "running" : "stopping"),
      // Whoever does not want to wait any longer for a graceful stop asks for a plain one.
      stop: (graceful) => phase.tell(graceful ? { type: "DRAIN", waitsForRuns: true } : { type: "STOP" }),
    };
  }

  /** What cannot be written any more ends the daemon, whoever wanted it written. */
  async #write(objects: readonly ObjectWrite[]): Promise<void> {
    const { phase, store, term } = this.#parts;
    try {
      await store.commit(term, { objects });
    } catch (error) {
      if (error instanceof KronError && error.isFatal) phase.fail(error);
      throw error;
    }
  }

  /** Everything by which it is reached. */
  async open(configuration: DaemonConfiguration): Promise<void> {
    const { address: metrics, among, clock, events, inspection, monitoring, phase, supervisor } = this.#parts;
    const { sweeps, term } = this.#parts;
    this.#stopHousekeeping = startHousekeeping({
      clock,
      term,
      sweeps: () => sweeps(() => supervisor.status().jobs),
      ledger: () => this.#settings.ledger,
      mayStart: () => mayStart(phase.snapshot),
      onFailure: (error) => phase.fail(error),
    });
    await this.#shown(configuration);
    const subscribe: DoorPorts["subscribe"] = (listener) => {
      const leave = [events.subscribe((event) => listener.tell(event)), among?.news.subscribe(listener)];
      return () => {
        for (const each of leave) each?.();
      };
    };
    const inspect = (await inspection?.open()) ?? null;
    // Whoever has doors can look on by them.
    const watchCommits: Monitoring["watchCommits"] = (listener) => monitoring.watchCommits(listener);
    const known = { acting: this.#acting, clock, subscribe, watchCommits };
    const doors = inspection && (await this.#doors.open({ ...known, inspection }));
    this.#addresses = { ...(metrics === null ? {} : { metrics }), ...(inspect === null ? {} : { inspect }), ...doors };
    this.#files = configuration.files;
    // The last of them: whoever comes in by it finds a daemon that answers for itself.
    await this.#control.listen();
  }

  #use(settings: Settings): void {
    this.#settings = settings;
    this.#parts.messenger.use(settings);
  }

  /** From here on it answers for itself. */
  begin(): void {
    const { among, messenger, monitoring, phase, planners, shared, supervisor } = this.#parts;
    phase.carryOut({
      stopScheduling: () => {
        this.#stopHousekeeping();
        this.#settler?.cancel();
        planners.breakOff();
        messenger.close();
        among?.close();
      },
      drain: (event) => this.#drain(event),
      closeStore: () => void this.#close().catch((error: unknown) => phase.fail(error)),
      reportError: () => (hasFailed(phase.snapshot) ? void this.#fail(phase.trouble) : this.#keepOn(phase.trouble)),
      end: (event) => this.#leave(event),
    });
    phase.tell({ type: "READY" });
    messenger.use(this.#settings);
    messenger.open().catch((error: unknown) => phase.fail(error));
    monitoring.ready();
    const { jobs, unread } = supervisor.status();
    const node = shared === null ? {} : { node: shared.member.node, pools: shared.member.pools };
    const known = unread === undefined ? {} : { unread };
    const about = { pid: process.pid, jobs, ...known, files: this.#files, state: this.stateDirectory, ...node };
    this.#say("ready", "info", { ...about, ...this.#addresses });
    void this.#settleJobs();
    planners.analyst.open({
      look: (identity) => lookAt(this.#acting, identity),
      mayStart: () => mayStart(phase.snapshot),
    });
  }

  /** Jobs of tenants that a crash has left between two states; among others, the crash of another one too. */
  async #settleJobs(): Promise<void> {
    const { phase, shared } = this.#parts;
    try {
      await settleAll(this.#acting, (error) => {
        if (!mayStart(phase.snapshot)) throw error;
        this.#options.log.daemon(errorEvent(error, { component: "api", operation: "settle" }, systemClock.now()));
      });
    } catch (error) {
      // While it ends nothing is changed any more: the next start goes on with it.
      if (mayStart(phase.snapshot)) phase.fail(error);
    }
    if (shared === null || !mayStart(phase.snapshot)) return;
    this.#settler = systemClock.after(SETTLED_EVERY_MS, () => void this.#settleJobs());
  }

  /** What `open` has opened. */
  async closeDoors(): Promise<void> {
    this.#stopHousekeeping();
    await this.#doors.close();
    await this.#control.close();
  }

  /** One after another; whoever asks while one waits for its turn gets that one. */
  reload(): Promise<ReloadReport> {
    if (this.#parts.shared !== null) return Promise.reject(sharedDefinitions());
    if (this.#waitingReload !== null) return this.#waitingReload;
    const reloaded = this.#lastReload.then(() => {
      this.#waitingReload = null;
      return this.#acting.chronicle.noting(() => this.#reloadNow());
    });
    this.#waitingReload = reloaded;
    this.#lastReload = reloaded.catch(() => undefined);
    return reloaded;
  }

  async plan(onThisHost: boolean): Promise<ReloadReport> {
    if (this.#parts.shared !== null) throw sharedDefinitions();
    const { configuration, planned } = await this.#wanted(onThisHost);
    const { findings, located } = configuration;
    const report = { plan: planned.report, findings, kept: planned.kept };
    if (!onThisHost || located === null) return report;
    const check = this.#parts.newHostCheck(configuration.settings);
    const host = await hostFindings(locatedJobs(located), check, START_CHECK_LIMITS.looks);
    return { ...report, notStartable: await placed(this.#parts.loader, host.findings) };
  }

  /** S24, ahead of time: in the background, and nothing is refused for it. */
  checkStart(): void {
    const { phase } = this.#parts;
    this.#startCheck.run().catch((error: unknown) => {
      if (!mayStart(phase.snapshot)) return;
      this.#options.log.daemon(errorEvent(error, { component: "executor", operation: "check" }, systemClock.now()));
    });
  }

  /** What goes wrong with it is for the phase to judge (S16, S35): it leaves everything as it was, or ends the daemon. */
  async #reloadNow(): Promise<ReloadReport> {
    const { monitoring, phase } = this.#parts;
    const reading = phase.request({ type: "RELOAD" }, "reloadConfiguration", () => {
      monitoring.reloading();
      return this.#wanted();
    });
    if (reading === null) throw stopping();
    try {
      const read = await reading;
      const changed = phase.request({ type: "READ" }, "changeDefinitions", () => this.#carryOut(read));
      if (changed === null) throw stopping();
      return await changed;
    } catch (error) {
      phase.reject(error);
      throw error;
    } finally {
      monitoring.reloadEnded();
    }
  }

  async #carryOut({ configuration, planned }: Read): Promise<ReloadReport> {
    logFindings(this.#options.log, configuration.findings, "reload");
    const nodeless = await nodelessLine(configuration.wanted, systemClock.now());
    if (nodeless !== null) this.#options.log.daemon(nodeless);
    const settings = configuration.isIncomplete ? this.#settings : configuration.settings;
    const plan = await this.#apply(configuration, planned, settings);
    this.#use(settings);
    await this.#shown(configuration);
    trimMemorySoon();
    this.#parts.phase.tell({ type: configuration.findings.length === 0 ? "RELOADED" : "REJECTED" });
    this.checkStart();
    return { plan, findings: configuration.findings, kept: planned.kept };
  }

  #keepOn(cause: unknown): void {
    this.#parts.monitoring.configurationRead(1, true);
    const event = errorEvent(cause, { component: "config", operation: "reload" }, systemClock.now());
    const hint = "the configuration in force stays as it is; reload again when the trouble is over";
    this.#options.log.daemon({ ...event, fields: { ...event.fields, hint } });
  }

  /** As long as definitions are changing, nobody could say what those on record are made of. */
  async #apply(
    { wanted, manifest }: DaemonConfiguration,
    planned: PlannedReload,
    settings: Settings,
  ): Promise<PlanReport> {
    const { store, term } = this.#parts;
    if (wanted === "as-stored") return planned.apply(settings);
    await store.commit(term, { meta: [manifestNote(null)] });
    const plan = await planned.apply(settings);
    if (manifest !== null) await store.commit(term, { meta: [manifestNote(manifest)] });
    return plan;
  }

  /** S20: nobody is to find out by a run that is missing. Files that have not changed were told of when they were read. */
  async #shown({ findings, isIncomplete }: DaemonConfiguration): Promise<void> {
    const { monitoring, store, supervisor } = this.#parts;
    monitoring.configurationRead(findings.length, isIncomplete);
    // Where nobody asked for single jobs, none is looked at: spelling a million names would hold up the loop.
    if ((this.#options.metricsJobs ?? []).length > 0) await monitoring.jobsAre(supervisor.identities(), store);
  }

  /** S35: an invalid job keeps its definition; where a whole file cannot be read, every job that is missing does. */
  async #wanted(anew = false): Promise<Read> {
    const { loader, store, supervisor } = this.#parts;
    const configuration = await loadDaemonConfiguration(loader, anew ? null : await storedManifest(store));
    const planned = await supervisor.plan(configuration.wanted, (identity) => configuration.keeps(identity));
    return { configuration, planned };
  }

  /** SIGHUP. What goes wrong with it is dealt with where it does. */
  async hangUp(): Promise<void> {
    const { phase, shared } = this.#parts;
    if (!mayStart(phase.snapshot)) return;
    if (shared !== null) this.#say("reload_refused", "warn", { message: SHARED_DEFINITIONS });
    else await this.reload().catch(() => undefined);
  }

  /** S29: what runs goes on; a graceful drain waits for it, and has no bound. */
  #drain(event: SupervisorEvent | null): void {
    const { clock, monitoring, phase } = this.#parts;
    const { waitsForRuns: graceful } = phase.snapshot.context;
    this.#say("draining", "info", { ...signalOf(event), graceful });
    monitoring.stopping();
    if (!graceful) this.#drainBound = clock.after(DRAIN_BOUND_MS, () => phase.fail(endless()));
  }

  async #close(): Promise<void> {
    const { among, books, inspection, monitoring, phase, planners, pool, runner, store, term } = this.#parts;
    this.#drainBound?.cancel();
    // Before the doors, which wait for everybody who waits for an answer.
    books.workers.dismiss();
    await among?.workers.leaveOthers();
    this.#acting.runEnds.dismiss();
    await inspection?.close();
    await this.#doors.close();
    this.#control.hide();
    await pool.close();
    await runner.close();
    await planners.close();
    await books.close();
    await store.close();
    await monitoring.close();
    this.#say("stopped", "info", {});
    // Before the last connection ends: whoever waits for that may start the next daemon at once.
    await term.release();
    await this.#control.close();
    phase.tell({ type: "CLOSED" });
  }

  /** Asked a second time, its gates close with the process; what was claimed is found again by the next start. */
  #leave(event: SupervisorEvent | null): void {
    this.#drainBound?.cancel();
    const reason = "asked a second time: stopping at once";
    if (event?.type === "STOP") this.#say("stopped", "warn", { ...signalOf(event), reason });
    this.#end(exitStatus(this.#parts.phase.snapshot.context));
  }

  /** Going on could start something twice: gates are closed, the reason is said, and the process ends. */
  async #fail(cause: unknown): Promise<void> {
    const { clock, monitoring, phase, runner } = this.#parts;
    this.#drainBound?.cancel();
    monitoring.vitals.failed(cause);
    this.#options.log.daemon(fatalEvent(cause, { component: "scheduler", operation: "run" }, systemClock.now()));
    const closing = runner.close().catch(() => undefined);
    await Promise.race([closing, new Promise((resolve) => clock.after(CLOSE_BOUND_MS, () => resolve(null)))]);
    this.#end(exitStatus(phase.snapshot.context));
  }

  #say(event: string, level: "info" | "warn", fields: Readonly<Record<string, unknown>>): void {
    this.#options.log.daemon({ at: systemClock.now(), event, component: "scheduler", level, fields });
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
