/**
 * The daemon: everything wired together, from the configuration to the control socket, and taken apart again in the
 * opposite order. It decides nothing: what is refused at the start, what a signal means and which exit status follows is
 * all there is here.
 */
import { randomBytes } from "node:crypto";
import { systemClock, type Timer } from "../actors/clock.js";
import type { Launcher } from "../actors/launcher/port.js";
import { startLauncher } from "../actors/launcher/process-launcher.js";
import { readBootId } from "../actors/process-identity.js";
import type { PlanReport, Supervisor } from "../actors/supervisor/port.js";
import { createSupervisor } from "../actors/supervisor/supervisor.js";
import { zoneDataVersion } from "../actors/zone-data.js";
import type { Settings } from "../core/config/settings.js";
import { exitStatusOf } from "../core/errors/exit-status.js";
import { errorFields, problemFields } from "../core/errors/fields.js";
import { KronError } from "../core/errors/kron-error.js";
import { err, ok, type Result } from "../core/result.js";
import { ENGINE_VERSION } from "../core/version.js";
import type { ConfigCheck, ConfigFinding, ConfigSource } from "../persist/configuration.js";
import { copiesIn } from "../persist/corrupt-copies.js";
import { acquireDirectoryLock, type LockTerm } from "../persist/lock.js";
import type { Backend } from "../persist/marker.js";
import { openStateStore } from "../persist/open.js";
import type { StateStore } from "../persist/store.js";
import { type DaemonConfiguration, loadDaemonConfiguration } from "./configuration.js";
import { ControlServer } from "./control-server.js";
import { startHousekeeping } from "./housekeeping.js";
import type { DaemonLog } from "./log.js";
import { type ListenAddress, Monitoring } from "./monitoring.js";
import { createNotifier, type Notifier } from "./notify.js";
import { outputDirectoryIn, socketPathIn } from "./state-directory.js";

export interface DaemonOptions {
  readonly sources: readonly ConfigSource[];
  /** Who may have written the configuration; null trusts everybody. */
  readonly trust: (() => ConfigCheck) | null;
  readonly stateDirectory: string;
  readonly backend: Backend;
  readonly log: DaemonLog & { readonly lostLines?: number };
  /** Where metrics and health are asked for; null: nowhere. */
  readonly metrics: ListenAddress | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Why the daemon did not start: findings in the configuration, or an operating failure. */
export interface BootRefusal {
  readonly exitCode: number;
  readonly findings: readonly ConfigFinding[];
  readonly error: KronError | null;
}

export interface ReloadReport {
  readonly plan: PlanReport;
  readonly findings: readonly ConfigFinding[];
  /** Jobs that keep the definition they had, because the new one is invalid or may only be missing (S35). */
  readonly kept: readonly string[];
}

/** What a job's PATH begins with: what cron daemons of Linux systems give. */
const BASE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const EXIT_OK = 0;
const EXIT_FATAL = 5;
/** How long the launchers may take to close their gates when something fatal happened; they do it by themselves too. */
const CLOSE_BOUND_MS = 2_000;
/** Longer than the slowest disk needs for a commit and a launcher for its gates. */
const DRAIN_BOUND_MS = 60_000;

interface Parts {
  readonly term: LockTerm;
  readonly store: StateStore;
  readonly launcher: Launcher;
  readonly supervisor: Supervisor;
  readonly monitoring: Monitoring;
}

/** Configuration, lock, store, launchers, supervisor, control socket, in this order (S31, S33, S35). */
export async function startDaemon(options: DaemonOptions): Promise<Result<Daemon, BootRefusal>> {
  const configuration = await loadDaemonConfiguration(options.sources, options.trust?.() ?? null);
  const { findings, settings, isIncomplete } = configuration;
  if (findings.length > 0 && (settings.onInvalid === "refuse" || isIncomplete)) {
    return err({ exitCode: 2, findings, error: null });
  }
  logFindings(options.log, findings, "start");
  const undo: (() => Promise<void>)[] = [];
  try {
    return ok(await assemble(options, configuration, undo));
  } catch (error) {
    // What cannot be taken apart any more is left to the end of the process.
    for (const step of undo.reverse()) await step().catch(() => undefined);
    if (!(error instanceof KronError)) throw error;
    return err({ exitCode: exitStatusOf(error.code), findings: [], error });
  }
}

async function assemble(
  options: DaemonOptions,
  configuration: DaemonConfiguration,
  undo: (() => Promise<void>)[],
): Promise<Daemon> {
  const term = unwrap(acquireDirectoryLock(options.stateDirectory));
  undo.push(async () => term.release());
  const store = unwrap(await openStateStore(term, options.backend));
  undo.push(() => store.close());
  const launcher = await startLauncher();
  undo.push(() => launcher.close());
  const notifier = notifierOf(options);
  const status = (): ReturnType<Supervisor["status"]> => supervisor.status();
  const lostLogLines = (): number => options.log.lostLines ?? 0;
  const monitoring = new Monitoring({ clock: systemClock, notifier, listen: options.metrics, status, lostLogLines });
  undo.push(() => monitoring.close());
  const supervisor: Supervisor = supervisorOf(options, { term, store, launcher, monitoring });
  await supervisor.start(configuration.definitions, configuration.settings);
  const parts = { term, store, launcher, supervisor, monitoring };
  const daemon = new Daemon(options, parts, configuration.settings);
  undo.push(() => supervisor.stop({ graceful: false }));
  undo.push(() => daemon.closeDoors());
  await daemon.open(configuration);
  return daemon;
}

function unwrap<T>(result: Result<T, KronError>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

function notifierOf({ env, log }: DaemonOptions): Notifier {
  const onTrouble = (message: string): void => {
    log.daemon({ at: systemClock.now(), event: "error", component: "scheduler", level: "warn", fields: { message } });
  };
  return createNotifier({ env, pid: process.pid, monotonicMs: systemClock.monotonicMs, onTrouble });
}

function supervisorOf(
  options: DaemonOptions,
  { term, store, launcher, monitoring }: Omit<Parts, "supervisor">,
): Supervisor {
  return createSupervisor({
    clock: systemClock,
    store,
    term,
    launcher,
    copies: copiesIn(term.directory),
    bootId: readBootId(),
    versions: { tzVersion: zoneDataVersion(), engineVersion: ENGINE_VERSION },
    outputDirectory: outputDirectoryIn(term.directory),
    baseEnv: { PATH: BASE_PATH, LANG: options.env["LANG"] || "C.UTF-8" },
    newId: newAttemptId,
    onEvent: (event) => {
      options.log.supervisor(event);
      monitoring.observe(event);
    },
  });
}

/** Sorts by time, so that the output files of a job do too. */
function newAttemptId(): string {
  return `${systemClock.now().toString(36).padStart(9, "0")}-${randomBytes(6).toString("hex")}`;
}

function logFindings(log: DaemonLog, findings: readonly ConfigFinding[], operation: string): void {
  for (const { located } of findings) {
    const { problem, file, line, column, identity } = located;
    const context = { component: "config" as const, operation, ...(identity === null ? {} : { identity }) };
    const { component, ...fields } = problemFields(problem, context);
    const place = { file, line, column, ...(problem.hint === undefined ? {} : { hint: problem.hint }) };
    log.daemon({ at: systemClock.now(), event: "error", component, level: "error", fields: { ...fields, ...place } });
  }
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
    private readonly parts: Parts,
    private settings: Settings,
  ) {
    this.stateDirectory = parts.term.directory;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    this.control = new ControlServer(socketPathIn(this.stateDirectory), {
      supervisor: parts.supervisor,
      store: parts.store,
      clock: systemClock,
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
  }

  async open({ files, definitions }: DaemonConfiguration): Promise<void> {
    await this.control.listen();
    this.stopHousekeeping = startHousekeeping({
      clock: systemClock,
      store: this.parts.store,
      term: this.parts.term,
      ledger: () => this.settings.ledger,
      jobs: () => this.parts.supervisor.status().jobs,
      onFailure: (error) => void this.fail(error),
    });
    const metrics = await this.parts.monitoring.open();
    const about = { pid: process.pid, jobs: definitions.length, files, state: this.stateDirectory };
    this.say("ready", "info", metrics === null ? about : { ...about, metrics });
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

  private async reloadNow(): Promise<ReloadReport> {
    const { monitoring, supervisor } = this.parts;
    monitoring.reloading();
    const { configuration, kept } = await this.wanted();
    logFindings(this.options.log, configuration.findings, "reload");
    const settings = configuration.isIncomplete ? this.settings : configuration.settings;
    const plan = await supervisor.reload(configuration.definitions, settings, kept);
    this.settings = settings;
    monitoring.reloaded();
    return { plan, findings: configuration.findings, kept };
  }

  /** S35: an invalid job keeps its definition; where a whole file cannot be read, every job that is missing does. */
  private async wanted(): Promise<{ configuration: DaemonConfiguration; plan: PlanReport; kept: string[] }> {
    const configuration = await loadDaemonConfiguration(this.options.sources, this.options.trust?.() ?? null);
    const { invalid, isIncomplete, definitions } = configuration;
    const plan = await this.parts.supervisor.plan(definitions);
    const kept = plan.removed.filter((identity) => isIncomplete || invalid.has(identity));
    return { configuration, plan, kept };
  }

  /** SIGHUP. */
  async hangUp(): Promise<void> {
    if (this.isStopping) return;
    try {
      await this.reload();
    } catch (error) {
      await this.fail(error);
    }
  }

  /** SIGTERM and SIGINT: drain; the second time, at once. */
  interrupt(signal: string): void {
    if (this.isStopping) this.endAtOnce({ signal });
    else void this.stop(false, signal);
  }

  /** Its gates close with the process; what was claimed is found again by the next start. */
  private endAtOnce(fields: Readonly<Record<string, unknown>>): void {
    this.say("stopped", "warn", { ...fields, reason: "asked a second time: stopping at once" });
    this.end(EXIT_OK);
  }

  /** S29: what runs goes on; `graceful` waits for it. */
  async stop(graceful: boolean, signal: string | null = null): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    this.say("draining", "info", { ...(signal === null ? {} : { signal }), graceful });
    try {
      this.stopHousekeeping();
      this.parts.monitoring.stopping();
      await this.drained(graceful);
      this.control.hide();
      await this.parts.launcher.close();
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
      timer = systemClock.after(DRAIN_BOUND_MS, () => reject(error));
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
    const { component, ...fields } = errorFields(cause, { component: "scheduler", operation: "run" });
    const at = systemClock.now();
    this.options.log.daemon({ at, event: "fatal", component, level: "error", fields });
    const closing = this.parts.launcher.close().catch(() => undefined);
    await Promise.race([closing, new Promise((resolve) => systemClock.after(CLOSE_BOUND_MS, () => resolve(null)))]);
    this.end(cause instanceof KronError ? exitStatusOf(cause.code) : EXIT_FATAL);
  }

  private say(event: string, level: "info" | "warn", fields: Readonly<Record<string, unknown>>): void {
    this.options.log.daemon({ at: systemClock.now(), event, component: "scheduler", level, fields });
  }
}
