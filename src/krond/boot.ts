/**
 * How a daemon comes to be: everything wired together, from the configuration to the control socket. It decides nothing:
 * what is refused at the start is all there is here.
 */
import { randomBytes } from "node:crypto";
import { systemClock } from "../actors/clock.js";
import { startLauncher } from "../actors/launcher/process-launcher.js";
import { readBootId } from "../actors/process-identity.js";
import type { Supervisor } from "../actors/supervisor/port.js";
import { createSupervisor } from "../actors/supervisor/supervisor.js";
import { zoneDataVersion } from "../actors/zone-data.js";
import { exitStatusOf } from "../core/errors/exit-status.js";
import { KronError } from "../core/errors/kron-error.js";
import type { JobDefinition } from "../core/job/definition.js";
import { err, ok, type Result } from "../core/result.js";
import { ENGINE_VERSION } from "../core/version.js";
import type { ConfigFinding } from "../persist/configuration.js";
import { copiesIn } from "../persist/corrupt-copies.js";
import { acquireDirectoryLock } from "../persist/lock.js";
import { openStateStore } from "../persist/open.js";
import type { MetaWrite, StateStore } from "../persist/store.js";
import { BOOT_NOTE_KEY, bootNote, readBootNote, zoneDataChange } from "./boot-note.js";
import { type DaemonConfiguration, loadDaemonConfiguration } from "./configuration.js";
import { Daemon, type DaemonOptions, type DaemonParts } from "./daemon.js";
import { logFindings, logKept } from "./finding-lines.js";
import { inspectionOf } from "./inspect/seam.js";
import { keptDefinitions } from "./kept-definitions.js";
import { Lifecycle } from "./lifecycle.js";
import type { DaemonLog } from "./log.js";
import { Monitoring } from "./monitoring.js";
import { createNotifier, type Notifier } from "./notify.js";
import { outputDirectoryIn } from "./state-directory.js";

/** Why the daemon did not start: findings in the configuration, or an operating failure. */
export interface BootRefusal {
  readonly exitCode: number;
  readonly findings: readonly ConfigFinding[];
  readonly error: KronError | null;
}

/** What a job's PATH begins with: what cron daemons of Linux systems give. */
const BASE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Configuration, lock, store, launchers, supervisor, control socket, in this order (S31, S33, S35). */
export async function startDaemon(options: DaemonOptions): Promise<Result<Daemon, BootRefusal>> {
  const read = await loadDaemonConfiguration(options.sources, options.trust?.() ?? null);
  const configuration = await admitted(read, options);
  if (configuration === null) return err({ exitCode: 2, findings: read.findings, error: null });
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

/** S35: what is to be started; null: nothing is. */
async function admitted(read: DaemonConfiguration, options: DaemonOptions): Promise<DaemonConfiguration | null> {
  const { findings, settings, isIncomplete, definitions } = read;
  const kept =
    findings.length === 0 ? [] : await keptDefinitions(read, options.stateDirectory, ENGINE_VERSION, systemClock.now());
  if (kept === null && (settings.onInvalid === "refuse" || isIncomplete)) return null;
  if (kept === null) logFindings(options.log, findings, "start");
  for (const one of kept ?? []) logKept(options.log, one);
  const accepted = (kept ?? []).map(({ definition }) => definition);
  return {
    ...read,
    definitions: [...definitions, ...accepted],
    accepted: accepted.map(({ identity }) => identity),
  };
}

async function assemble(
  options: DaemonOptions,
  configuration: DaemonConfiguration,
  undo: (() => Promise<void>)[],
): Promise<Daemon> {
  const lifecycle = new Lifecycle();
  lifecycle.tell({ type: "CONFIGURED" });
  const term = unwrap(acquireDirectoryLock(options.stateDirectory));
  lifecycle.tell({ type: "LOCKED" });
  undo.push(async () => term.release());
  const monitoring = monitoringOf(options);
  undo.push(() => monitoring.close());
  const address = await monitoring.listen();
  const opened = unwrap(await openStateStore(term, options.backend));
  undo.push(() => opened.close());
  const store = monitoring.observed(opened);
  lifecycle.tell({ type: "OPENED" });
  const launchers = await startLauncher(options.cgroupRoot == null ? {} : { cgroupRoot: options.cgroupRoot });
  undo.push(() => launchers.close());
  const ports = { clock: systemClock, lifecycle, store, launcher: launchers, log: options.log };
  const inspection = await inspectionOf(options.inspect ?? null, ports);
  undo.push(async () => inspection?.close());
  const launcher = inspection?.launcher ?? launchers;
  const wired = { term, store, launcher, monitoring, lifecycle, inspection };
  const supervisor: Supervisor = supervisorOf(options, wired);
  monitoring.watch(supervisor);
  await announceZoneData(store, configuration.definitions, options.log);
  await supervisor.start(configuration.definitions, configuration.settings);
  await store.commit(term, { meta: [noteOf(configuration)] });
  lifecycle.tell({ type: "RECOVERED" });
  const parts = { ...wired, supervisor, address };
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

function supervisorOf(
  options: DaemonOptions,
  { term, store, launcher, monitoring, inspection }: Omit<DaemonParts, "supervisor" | "address">,
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
    ...(inspection === null ? {} : { observer: inspection.observer }),
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

/** S5: the start plans anew anyway; here people are told why their jobs may run at other times. */
async function announceZoneData(store: StateStore, definitions: readonly JobDefinition[], log: DaemonLog) {
  const before = await readBootNote(store);
  const change = before === null ? null : zoneDataChange(before, definitions, zoneDataVersion());
  if (change === null) return;
  const at = systemClock.now();
  log.daemon({ at, event: "zone_data_changed", component: "scheduler", level: "warn", fields: { ...change } });
}

function noteOf({ definitions, accepted: kept }: DaemonConfiguration): MetaWrite {
  const about = { engine: ENGINE_VERSION, tz: zoneDataVersion(), kept };
  return { key: BOOT_NOTE_KEY, text: JSON.stringify(bootNote(definitions, about, systemClock.now())) };
}
