/**
 * How a daemon comes to be: everything wired together, from the configuration to the control socket. It decides nothing:
 * what is refused at the start is all there is here.
 */
import { isDeepStrictEqual } from "node:util";
import { type Clock, systemClock } from "../../actors/clock.js";
import { createDispatcher } from "../../actors/dispatcher/http-dispatcher.js";
import { EnvironmentReader } from "../../actors/launcher/daemon/environment.js";
import { startLauncher } from "../../actors/launcher/daemon/process-launcher.js";
import { RunnerRouter } from "../../actors/runner/router.js";
import { ToldRunner } from "../../actors/runner/told-runner.js";
import type { Supervisor } from "../../actors/supervisor/port.js";
import { Gates } from "../../actors/supervisor/run/gates.js";
import { joined, wantedFrom } from "../../actors/supervisor/start/wanted-jobs.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { exitStatusOf } from "../../core/base/errors/exit-status.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import type { Settings } from "../../core/config/settings.js";
import type { EpochMs } from "../../core/time/instant.js";
import { isHalted, isStarting, mayStart } from "../../machines/supervisor-phase.js";
import type { ConfigFinding } from "../../persist/configuration.js";
import { DEFINITION_READER } from "../../persist/definition-reader.js";
import type { LockTerm } from "../../persist/lock.js";
import type { StateStore } from "../../persist/store.js";
import { inspectionOf } from "../inspect/seam.js";
import type { DaemonLog } from "../log/log.js";
import { outputLines } from "../log/output-events.js";
import type { Monitoring } from "../monitor/monitoring.js";
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
import { Daemon, type DaemonOptions } from "./daemon.js";
import { deadlineLine } from "./deadlines.js";
import { logFindings, logKept } from "./finding-lines.js";
import { keptDefinitions } from "./kept-definitions.js";
import { tellingOf } from "./messenger.js";
import { brokenOff, ConfigurationRefused, progressLog, Start } from "./start.js";
import { trimMemory } from "./trim-memory.js";
import { baseEnvOf, hostCheckOf, monitoringOf, newAttemptId, supervisorOf, type Wired } from "./wiring.js";
import { type ZoneUse, zonesOf } from "./zone-use.js";

/** Why the daemon did not start: findings in the configuration, or an operating failure. */
export interface BootRefusal {
  readonly exitCode: number;
  readonly findings: readonly ConfigFinding[];
  readonly error: KronError | null;
}

/** A start that was broken off before anything was scheduled. */
const NOT_STARTED: BootRefusal = { exitCode: 0, findings: [], error: null };

/** Configuration, lock, store, launchers, supervisor, control socket, in this order (S31, S33, S35). */
export function startDaemon(options: DaemonOptions): Promise<Result<Daemon, BootRefusal>> {
  const start = new Start(options);
  return new Promise((resolve, reject) => {
    const { phase } = start;
    const refuse = async (): Promise<void> => {
      await start.takeApart();
      resolve(refusal(phase.trouble));
    };
    const leave = phase.carryOut({
      reportError: () => void refuse().catch(reject),
      end: () => void start.breakOff().then(() => resolve(err(NOT_STARTED))),
    });
    const opened = booted(start).then(async ({ daemon, configuration }) => {
      // From here on it is the daemon that says why it ends.
      leave();
      daemon.begin();
      const line = await deadlineLine(configuration.wanted, systemClock.now());
      if (line !== null) start.options.log.daemon(line);
      await trimMemory();
      daemon.checkStart();
      resolve(ok(daemon));
    });
    opened.catch((error: unknown) => phase.fail(error));
  });
}

function refusal(cause: unknown): Result<never, BootRefusal> {
  if (cause instanceof ConfigurationRefused) return err({ exitCode: 2, findings: cause.findings, error: null });
  if (!(cause instanceof KronError)) throw cause;
  return err({ exitCode: exitStatusOf(cause.code), findings: [], error: cause });
}

async function configured({ options, loader }: Start): Promise<DaemonConfiguration> {
  const known = await manifestIn(options.stateDirectory);
  const read = await loadDaemonConfiguration(loader, known);
  const configuration = await admitted(read, options);
  if (configuration === null) throw new ConfigurationRefused(read.findings);
  return configuration;
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

interface Booted {
  readonly daemon: Daemon;
  readonly configuration: DaemonConfiguration;
}

async function booted(start: Start): Promise<Booted> {
  const { options, phase, loader, pool } = start;
  const read = await start.next(null, "readConfiguration", () => configured(start));
  const term = await start.next({ type: "CONFIGURED" }, "takeLock", () => locked(start));
  const opened = await start.next({ type: "LOCKED" }, "openStore", () => storeOpened(start, term));
  const recovered = await start.next({ type: "OPENED" }, "recoverRuns", () => runsRecovered(start, opened, read));
  const { wired, supervisor, configuration } = recovered;
  const parts = { ...wired, phase, supervisor, loader, pool, newHostCheck: () => hostCheckOf(options, wired) };
  const daemon = new Daemon(options, parts, configuration.settings);
  start.undoBy(() => daemon.closeDoors());
  await daemon.open(configuration);
  if (!isStarting(phase.snapshot)) throw brokenOff();
  return { daemon, configuration };
}

async function locked({ options, phase, undoBy }: Start): Promise<LockTerm> {
  const { backend, at } = options.store;
  const term = unwrap(await backend.acquire(at));
  undoBy(async () => term.release());
  void term.lost.then((error) => phase.fail(error));
  return term;
}

interface Opened {
  readonly term: LockTerm;
  readonly store: StateStore;
  readonly monitoring: Monitoring;
  /** Where metrics and health are asked for. */
  readonly address: string | null;
}

async function storeOpened({ options, phase, undoBy }: Start, term: LockTerm): Promise<Opened> {
  const monitoring = monitoringOf(options, phase);
  undoBy(() => monitoring.close());
  const address = await monitoring.listen();
  const opened = unwrap(await options.store.backend.open(term));
  undoBy(() => opened.close());
  return { term, store: monitoring.observed(opened), monitoring, address };
}

interface Recovered {
  readonly wired: Wired;
  readonly supervisor: Supervisor;
  readonly configuration: DaemonConfiguration;
}

async function runsRecovered(start: Start, opened: Opened, read: DaemonConfiguration): Promise<Recovered> {
  const { options, phase, loader, pool } = start;
  const wired = await wiredUp(start, opened, read.settings);
  const planning = { pool, say: progressLog(options.log, "planning") };
  const begin = async (configuration: DaemonConfiguration): Promise<Supervisor> => {
    const supervisor = supervisorOf(options, phase, wired, planning);
    wired.monitoring.watch(supervisor);
    await startJobs(supervisor, configuration, { ...wired, log: options.log });
    return supervisor;
  };
  return { wired, ...(await begun(begin, read, wired.store, loader)) };
}

async function wiredUp({ options, phase, undoBy }: Start, opened: Opened, settings: Settings): Promise<Wired> {
  const clock = systemClock;
  const { cgroupRoot, env, log } = options;
  const launcher = await startLauncher({ clock, ...(cgroupRoot == null ? {} : { cgroupRoot }) });
  undoBy(() => launcher.close());
  const environment = new EnvironmentReader({ env, check: options.trust });
  const router = new RunnerRouter(launcher, createDispatcher({ clock, env }), environment);
  const runners = new ToldRunner(router, clock, outputLines(log));
  undoBy(() => runners.close());
  const ports = { clock, phase, store: opened.store, runner: runners, log };
  const inspection = await inspectionOf(options.inspect ?? null, ports);
  undoBy(async () => inspection?.close());
  const runner = inspection?.runner ?? runners;
  const gates = new Gates(runner, () => isHalted(phase.snapshot));
  const telling = await tellingOf(
    {
      ...{ clock, log, store: opened.store, term: opened.term, runner: runners, monitoring: opened.monitoring },
      outputDirectory: outputDirectoryIn(options.stateDirectory),
      baseEnv: baseEnvOf(options),
      newId: () => newAttemptId(clock),
      mayStart: () => mayStart(phase.snapshot),
      onFatal: (error) => phase.fail(error),
    },
    settings,
  );
  undoBy(async () => telling.messenger.close());
  return { ...opened, clock, runner, unwatched: runners, gates, inspection, ...telling };
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

/** S5: the start plans anew anyway; here people are told why their jobs may run at other times. */
async function announceZoneData(store: StateStore, use: ZoneUse, log: DaemonLog, at: EpochMs): Promise<void> {
  const before = await readBootNote(store);
  const change = before === null ? null : zoneDataChange(before, use, zoneDataVersion());
  if (change === null) return;
  log.daemon({ at, event: "zone_data_changed", component: "scheduler", level: "warn", fields: { ...change } });
}
