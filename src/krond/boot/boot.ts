/**
 * How a daemon comes to be: everything wired together, from the configuration to the control socket. It decides nothing:
 * what is refused at the start is all there is here.
 */
import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { type Clock, systemClock } from "../../actors/clock.js";
import { createDispatcher } from "../../actors/dispatcher/http-dispatcher.js";
import { EnvironmentReader } from "../../actors/launcher/daemon/environment.js";
import { startLauncher } from "../../actors/launcher/daemon/process-launcher.js";
import { createDecisionPool } from "../../actors/pool/decision-pool.js";
import type { DecisionPool, PlanProgress } from "../../actors/pool/types.js";
import { readBootId } from "../../actors/process-identity.js";
import { RunnerRouter } from "../../actors/runner/router.js";
import { ToldRunner } from "../../actors/runner/told-runner.js";
import type { Supervisor } from "../../actors/supervisor/port.js";
import { Gates } from "../../actors/supervisor/run/gates.js";
import { joined, wantedFrom } from "../../actors/supervisor/start/wanted-jobs.js";
import { createSupervisor } from "../../actors/supervisor/supervisor.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { exitStatusOf } from "../../core/base/errors/exit-status.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { ConfigFinding } from "../../persist/configuration.js";
import { copiesIn } from "../../persist/corrupt-copies.js";
import { DEFINITION_READER } from "../../persist/definition-reader.js";
import type { LockTerm } from "../../persist/lock.js";
import type { StateStore } from "../../persist/store.js";
import { inspectionOf } from "../inspect/seam.js";
import { type DaemonLog, errorEvent } from "../log/log.js";
import { outputLines } from "../log/output-events.js";
import { Monitoring } from "../monitor/monitoring.js";
import { outputDirectoryIn } from "../state/directory.js";
import { BOOT_NOTE_KEY, bootNote, readBootNote, zoneDataChange } from "./boot-note.js";
import {
  type ConfigurationLoader,
  type DaemonConfiguration,
  loadDaemonConfiguration,
  manifestIn,
  manifestNote,
  storedManifest,
} from "./configuration.js";
import { Daemon, type DaemonOptions, type DaemonParts } from "./daemon.js";
import { logFindings, logKept } from "./finding-lines.js";
import { keptDefinitions } from "./kept-definitions.js";
import { Lifecycle } from "./lifecycle.js";
import { createNotifier, type Notifier } from "./notify.js";
import { type ZoneUse, zonesOf } from "./zone-use.js";

/** Why the daemon did not start: findings in the configuration, or an operating failure. */
export interface BootRefusal {
  readonly exitCode: number;
  readonly findings: readonly ConfigFinding[];
  readonly error: KronError | null;
}

/** What a job's PATH begins with: what cron daemons of Linux systems give. */
const BASE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const MOST_THREADS = 4;
const PROGRESS_EVERY_MS = 2_000;

/** Where the plans of all jobs come from. */
interface Planning {
  readonly pool: DecisionPool;
  say(done: number, total: number, unit: string): void;
}

/** Configuration, lock, store, launchers, supervisor, control socket, in this order (S31, S33, S35). */
export async function startDaemon(options: DaemonOptions): Promise<Result<Daemon, BootRefusal>> {
  const undo: (() => Promise<void>)[] = [];
  try {
    const pool = createDecisionPool({ threads: poolThreads(), onRefused: (error) => sayRefused(options.log, error) });
    undo.push(() => pool.close());
    options.onPool?.(pool);
    const loading = { options, pool, loader: loaderOf(options, pool) };
    const known = await manifestIn(options.stateDirectory);
    const read = await loadDaemonConfiguration(loading.loader, known);
    const configuration = await admitted(read, options);
    if (configuration !== null) return ok(await assemble(loading, configuration, undo));
    await pool.close();
    return err({ exitCode: 2, findings: read.findings, error: null });
  } catch (error) {
    // What cannot be taken apart any more is left to the end of the process.
    for (const step of undo.reverse()) await step().catch(() => undefined);
    if (!(error instanceof KronError)) throw error;
    return err({ exitCode: exitStatusOf(error.code), findings: [], error });
  }
}

/** S35: what is to be started; null: nothing is. */
async function admitted(read: DaemonConfiguration, options: DaemonOptions): Promise<DaemonConfiguration | null> {
  const { findings, settings, isIncomplete, wanted } = read;
  const kept = findings.length === 0 ? [] : await keptDefinitions(read, options.stateDirectory, ENGINE_VERSION);
  if (kept === null && (settings.onInvalid === "refuse" || isIncomplete)) return null;
  if (kept === null) logFindings(options.log, findings, "start");
  for (const one of kept ?? []) logKept(options.log, one);
  const accepted = (kept ?? []).map(({ definition }) => definition);
  if (accepted.length === 0 || wanted === "as-stored") return read;
  return {
    ...read,
    wanted: joined(wanted, wantedFrom(accepted)),
    accepted: accepted.map(({ identity }) => identity),
  };
}

/** A start or a reload that has to do without threads takes longer, and is none the worse for it. */
function sayRefused(log: DaemonLog, error: KronError): void {
  const event = errorEvent(error, { component: "planner", operation: "batch" }, systemClock.now());
  log.daemon({ ...event, fields: { ...event.fields, ...(error.hint === undefined ? {} : { hint: error.hint }) } });
}

interface Loading {
  readonly options: DaemonOptions;
  readonly pool: DecisionPool;
  readonly loader: ConfigurationLoader;
}

/** As many as there are cores, but not more than pay: they share the disk, and the loop needs a core too. */
function poolThreads(): number {
  return Math.min(MOST_THREADS, availableParallelism());
}

function loaderOf({ sources, trust, permit = {}, log }: DaemonOptions, pool: DecisionPool): ConfigurationLoader {
  const say = progressLog(log, "reading the configuration");
  // Who is trusted is looked up anew for each load: accounts come and go.
  return {
    pool,
    sources,
    permit,
    get check() {
      return trust?.() ?? null;
    },
    onProgress: ({ doneBytes, totalBytes }) => say(doneBytes, totalBytes, "bytes"),
  };
}

/** A line now and then, while something takes long. */
function progressLog(log: DaemonLog, what: string): (done: number, total: number, unit: string) => void {
  let saidMs = 0;
  let lastDone = Number.POSITIVE_INFINITY;
  return (done, total, unit) => {
    const nowMs = systemClock.monotonicMs();
    // Less than before: it has begun anew.
    if (done < lastDone) saidMs = nowMs;
    lastDone = done === total ? Number.POSITIVE_INFINITY : done;
    if (nowMs - saidMs < PROGRESS_EVERY_MS) return;
    saidMs = nowMs;
    const fields = { what, done, total, unit };
    log.daemon({ at: systemClock.now(), event: "progress", component: "planner", level: "info", fields });
  };
}

async function assemble(
  { options, pool, loader }: Loading,
  read: DaemonConfiguration,
  undo: (() => Promise<void>)[],
): Promise<Daemon> {
  const clock = systemClock;
  const lifecycle = new Lifecycle();
  lifecycle.tell({ type: "CONFIGURED" });
  const { backend, at } = options.store;
  const term = unwrap(await backend.acquire(at));
  lifecycle.tell({ type: "LOCKED" });
  undo.push(async () => term.release());
  const monitoring = monitoringOf(options);
  undo.push(() => monitoring.close());
  const address = await monitoring.listen();
  const opened = unwrap(await backend.open(term));
  undo.push(() => opened.close());
  const store = monitoring.observed(opened);
  lifecycle.tell({ type: "OPENED" });
  const launcher = await startLauncher({
    clock,
    ...(options.cgroupRoot == null ? {} : { cgroupRoot: options.cgroupRoot }),
  });
  undo.push(() => launcher.close());
  const environment = new EnvironmentReader({ env: options.env, check: options.trust });
  const router = new RunnerRouter(launcher, createDispatcher({ clock, env: options.env }), environment);
  const runners = new ToldRunner(router, clock, outputLines(options.log));
  undo.push(() => runners.close());
  const ports = { clock, lifecycle, store, runner: runners, log: options.log };
  const inspection = await inspectionOf(options.inspect ?? null, ports);
  undo.push(async () => inspection?.close());
  const runner = inspection?.runner ?? runners;
  const gates = new Gates(runner);
  const wired = { clock, term, store, runner, gates, monitoring, lifecycle, inspection };
  const planning = { pool, say: progressLog(options.log, "planning") };
  const begin = async (configuration: DaemonConfiguration): Promise<Supervisor> => {
    const supervisor = supervisorOf(options, wired, planning);
    monitoring.watch(supervisor);
    await startJobs(supervisor, configuration, { clock, term, store, log: options.log });
    return supervisor;
  };
  const { supervisor, configuration } = await begun(begin, read, store, loader);
  lifecycle.tell({ type: "RECOVERED" });
  const parts = { ...wired, supervisor, address, loader, pool };
  const daemon = new Daemon(options, parts, configuration.settings);
  undo.push(() => supervisor.stop({ graceful: false }));
  undo.push(() => daemon.closeDoors());
  await daemon.open(configuration);
  return daemon;
}

/**
 * What is on record is relied on only if it still is what the files were read for, and can be read: otherwise the files
 * are read after all.
 */
async function begun(
  begin: (configuration: DaemonConfiguration) => Promise<Supervisor>,
  read: DaemonConfiguration,
  store: StateStore,
  loader: ConfigurationLoader,
): Promise<{ readonly supervisor: Supervisor; readonly configuration: DaemonConfiguration }> {
  if (read.wanted !== "as-stored") return { supervisor: await begin(read), configuration: read };
  const onRecord = await storedManifest(store);
  if (onRecord !== null && isDeepStrictEqual(onRecord, read.manifest)) {
    try {
      return { supervisor: await begin(read), configuration: read };
    } catch (error) {
      if (!(error instanceof KronError) || error.code !== "definition-unreadable") throw error;
    }
  }
  const configuration = await loadDaemonConfiguration(loader, null);
  return { supervisor: await begin(configuration), configuration };
}

interface StartPlace {
  readonly clock: Clock;
  readonly term: LockTerm;
  readonly store: StateStore;
  readonly log: DaemonLog;
}

/** While jobs are being told, nobody could say what the definitions on record are made of. */
async function startJobs(
  supervisor: Supervisor,
  { wanted, settings, accepted, manifest }: DaemonConfiguration,
  { clock, term, store, log }: StartPlace,
): Promise<void> {
  if (wanted === "as-stored") {
    await supervisor.start(wanted, settings);
    return;
  }
  const use = await zonesOf(wanted);
  await announceZoneData(store, use, log, clock.now());
  await store.commit(term, { meta: [manifestNote(null)] });
  await supervisor.start(wanted, settings);
  const about = { engine: ENGINE_VERSION, tz: zoneDataVersion(), kept: accepted };
  const note = { key: BOOT_NOTE_KEY, text: JSON.stringify(bootNote(use, about, clock.now())) };
  // What was kept although this version rejects it must be read with care by the next start too.
  const reader = accepted.length === 0 ? [DEFINITION_READER] : [];
  await store.commit(term, { meta: [note, manifestNote(manifest), ...reader] });
}

function unwrap<T>(result: Result<T, KronError>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

function monitoringOf(options: DaemonOptions): Monitoring {
  const { log, metrics: listen, metricsJobs: ownSeries = [] } = options;
  return new Monitoring({
    clock: systemClock,
    notifier: notifierOf(options),
    listen,
    ownSeries,
    lostLogLines: () => log.lostLines ?? 0,
    onLoopDelay: ({ delayMs, during, untold }) => {
      const fields = { delay_ms: delayMs, during, untold };
      log.daemon({ at: systemClock.now(), event: "loop_delay", component: "scheduler", level: "warn", fields });
    },
  });
}

function notifierOf({ env, log }: DaemonOptions): Notifier {
  const onTrouble = (message: string): void => {
    log.daemon({ at: systemClock.now(), event: "error", component: "scheduler", level: "warn", fields: { message } });
  };
  return createNotifier({ env, pid: process.pid, monotonicMs: systemClock.monotonicMs, onTrouble });
}

/** What there is before anything is scheduled. */
interface Wired extends Omit<DaemonParts, "supervisor" | "address" | "loader" | "pool"> {
  /** One for the whole node, however many supervisors it has. */
  readonly gates: Gates;
}

function supervisorOf(
  options: DaemonOptions,
  { clock, term, store, runner, gates, monitoring, inspection }: Wired,
  planning: Planning,
): Supervisor {
  return createSupervisor({
    clock,
    store,
    term,
    runner,
    gates,
    copies: copiesIn(options.stateDirectory),
    bootId: readBootId(),
    versions: { tzVersion: zoneDataVersion(), engineVersion: ENGINE_VERSION },
    outputDirectory: outputDirectoryIn(options.stateDirectory),
    baseEnv: { PATH: BASE_PATH, LANG: options.env["LANG"] || "C.UTF-8" },
    newId: () => newAttemptId(clock),
    plan: (wanted, planned) => {
      const onProgress = ({ done, total }: PlanProgress): void => planning.say(done, total, "jobs");
      return planning.pool.planAll(wanted, { ...planned, onProgress });
    },
    ...(inspection === null ? {} : { observer: inspection.observer }),
    onEvent: (event) => {
      options.log.supervisor(event);
      monitoring.observe(event);
    },
  });
}

/** Sorts by time, so that the output files of a job do too. Node keeps a stock of random UUIDs; bytes it fetches anew. */
function newAttemptId(clock: Clock): string {
  const [random = "", more = ""] = randomUUID().split("-");
  return `${clock.now().toString(36).padStart(9, "0")}-${random}${more}`;
}

/** S5: the start plans anew anyway; here people are told why their jobs may run at other times. */
async function announceZoneData(store: StateStore, use: ZoneUse, log: DaemonLog, at: EpochMs): Promise<void> {
  const before = await readBootNote(store);
  const change = before === null ? null : zoneDataChange(before, use, zoneDataVersion());
  if (change === null) return;
  log.daemon({ at, event: "zone_data_changed", component: "scheduler", level: "warn", fields: { ...change } });
}
