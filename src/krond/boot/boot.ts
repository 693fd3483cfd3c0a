/**
 * How a daemon comes to be: everything wired together, from the configuration to the control socket. It decides nothing:
 * what is refused at the start is all there is here.
 */
import { isDeepStrictEqual } from "node:util";
import { type Clock, systemClock } from "../../actors/clock.js";
import { lastStartAt } from "../../actors/cluster/lease.js";
import { createDispatcher } from "../../actors/dispatcher/http-dispatcher.js";
import { QuotaRunner } from "../../actors/endpoints/quota-runner.js";
import { EnvironmentReader } from "../../actors/launcher/daemon/environment.js";
import { startLauncher } from "../../actors/launcher/daemon/process-launcher.js";
import { RunnerRouter } from "../../actors/runner/router.js";
import { ToldRunner } from "../../actors/runner/told-runner.js";
import type { Supervisor } from "../../actors/supervisor/port.js";
import { Gates } from "../../actors/supervisor/run/gates.js";
import { joined, wantedFrom } from "../../actors/supervisor/start/wanted-jobs.js";
import { SplitDispatcher } from "../../actors/workers/split.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { exitStatusOf } from "../../core/base/errors/exit-status.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result, unwrap } from "../../core/base/result.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import type { Settings } from "../../core/config/settings.js";
import type { EpochMs } from "../../core/time/instant.js";
import { isHalted, isStarting, mayStart } from "../../machines/supervisor-phase.js";
import { RecentEnds } from "../../operations/now/recent.js";
import type { ConfigFinding } from "../../persist/config-files.js";
import { DEFINITION_READER } from "../../persist/definition-reader.js";
import type { LockTerm } from "../../persist/lock.js";
import type { StateStore } from "../../persist/store.js";
import { inspectionOf } from "../inspect/seam.js";
import type { DaemonLog } from "../log/log.js";
import { outputLines } from "../log/output-events.js";
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
import { Daemon } from "./daemon.js";
import type { DaemonOptions, DaemonParts, Opened } from "./daemon-parts.js";
import { deadlineLine } from "./deadlines.js";
import { endpointBooks } from "./endpoint-books.js";
import { EventFeed } from "./event-feed.js";
import { logFindings, logKept } from "./finding-lines.js";
import { keptDefinitions } from "./kept-definitions.js";
import { closeLeftRuns } from "./left-runs.js";
import { tellingOf } from "./messenger.js";
import { nodelessLine } from "./nodeless.js";
import { plannersOf } from "./planners.js";
import { hostRoom, roomForGates } from "./room-for-gates.js";
import { isShared, type Shared, sharedConfiguration, sharedOf } from "./shared.js";
import { sharedSupervisorOf, sweepsOf } from "./shared-supervisor.js";
import { brokenOff, ConfigurationRefused, progressLog, Start } from "./start.js";
import { trimMemorySoon } from "./trim-memory.js";
import {
  baseEnvOf,
  hostCheckOf,
  monitoringOf,
  newAttemptId,
  type Planning,
  supervisorOf,
  type Wired,
} from "./wiring.js";
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
      end: () => void start.breakOff(opened).then(() => resolve(err(NOT_STARTED))),
    });
    const opened: Promise<void> = booted(start).then(async ({ daemon, configuration }) => {
      // From here on it is the daemon that says why it ends.
      leave();
      daemon.begin();
      await remark(start, configuration);
      trimMemorySoon();
      daemon.checkStart();
      resolve(ok(daemon));
    });
    opened.catch((error: unknown) => phase.fail(error));
  });
}

/** What a person should hear of a configuration that is in order. */
async function remark({ options: { log } }: Start, { wanted }: DaemonConfiguration): Promise<void> {
  for (const lineOf of [deadlineLine, nodelessLine]) {
    const line = await lineOf(wanted, systemClock.now());
    if (line !== null) log.daemon(line);
  }
}

function refusal(cause: unknown): Result<never, BootRefusal> {
  if (cause instanceof ConfigurationRefused) return err({ exitCode: 2, findings: cause.findings, error: null });
  if (!(cause instanceof KronError)) throw cause;
  return err({ exitCode: exitStatusOf(cause.code), findings: [], error: cause });
}

async function configured({ options, loader }: Start): Promise<DaemonConfiguration> {
  if (isShared(options.store)) return sharedConfiguration();
  const known = await manifestIn(options.store);
  const read = await loadDaemonConfiguration(loader, known);
  const configuration = await admitted(read, options);
  if (configuration === null) throw new ConfigurationRefused(read.findings);
  return configuration;
}

/** S35: what is to be started; null: nothing is. */
async function admitted(read: DaemonConfiguration, options: DaemonOptions): Promise<DaemonConfiguration | null> {
  const { findings, settings, isIncomplete, wanted } = read;
  const kept = findings.length === 0 ? [] : await keptDefinitions(read, options.store, ENGINE_VERSION);
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
  const read = await start.next(null, "readConfiguration", () => configured(start));
  const term = await start.next({ type: "CONFIGURED" }, "takeLock", () => locked(start));
  const opened = await start.next({ type: "LOCKED" }, "openStore", () => storeOpened(start, term));
  const recovered = await start.next({ type: "OPENED" }, "recoverRuns", () => runsRecovered(start, opened, read));
  const { configuration } = recovered;
  const daemon = daemonOf(start, recovered);
  await daemon.open(configuration);
  if (!isStarting(start.phase.snapshot)) throw brokenOff();
  return { daemon, configuration };
}

/**
 * A scope of its own: what it hands on is kept as long as the daemon, and must not hold on to the definitions that were
 * read, half a kilobyte a job.
 */
function daemonOf(start: Start, { wired, supervisor, configuration: { settings } }: Recovered): Daemon {
  const { options, phase, loader, pool } = start;
  const newHostCheck: DaemonParts["newHostCheck"] = (now) => hostCheckOf(options, wired, now);
  const parts = { ...wired, phase, supervisor, loader, pool, newHostCheck };
  const daemon = new Daemon(options, parts, settings);
  start.undoBy(() => daemon.closeDoors());
  return daemon;
}

async function locked({ options, phase, undoBy }: Start): Promise<LockTerm> {
  const { backend, at } = options.store;
  const term = unwrap(await backend.acquire(at));
  undoBy(() => term.release());
  void term.lost.then((error) => phase.fail(error));
  return term;
}

async function storeOpened({ options, phase, undoBy }: Start, term: LockTerm): Promise<Opened> {
  const { backend } = options.store;
  const monitoring = monitoringOf(options, phase);
  undoBy(() => monitoring.close());
  const address = await monitoring.listen();
  const opened = unwrap(await backend.open(term));
  undoBy(() => opened.close());
  const shared = backend.member === null ? null : await sharedOf(await backend.member(term, opened), opened, options);
  return { term, store: monitoring.observed(opened), monitoring, address, shared };
}

interface Recovered {
  readonly wired: Wired;
  readonly supervisor: Supervisor;
  readonly configuration: DaemonConfiguration;
}

async function runsRecovered(start: Start, opened: Opened, read: DaemonConfiguration): Promise<Recovered> {
  const { options, phase, loader, pool } = start;
  const planning = { pool, say: progressLog(options.log, "planning") };
  if (opened.shared !== null) return sharedRecovered(start, opened, opened.shared, planning);
  const wired = await wiredUp(start, opened, read.settings, systemClock);
  const begin = async (configuration: DaemonConfiguration): Promise<Supervisor> => {
    const supervisor = supervisorOf(options, phase, wired, planning);
    wired.monitoring.watch(supervisor);
    wired.inspection?.of(supervisor);
    wired.books.health.keepTo((identity) => supervisor.has(identity));
    await startJobs(supervisor, configuration, { ...wired, log: options.log });
    const leave = closeLeftRuns(systemClock, supervisor, (error) => phase.fail(error));
    start.undoBy(async () => leave());
    return supervisor;
  };
  return { wired, ...(await begun(begin, read, wired.store, loader)) };
}

/** What is wanted stands in the store, and comes shard by shard. */
async function sharedRecovered(start: Start, opened: Opened, shared: Shared, planning: Planning): Promise<Recovered> {
  const { options, phase } = start;
  const configuration = sharedConfiguration(shared.settings.current);
  const wired = await wiredUp(start, opened, configuration.settings, shared.time);
  const parts = sharedSupervisorOf({ options, phase, planning }, wired, shared);
  const { membership, supervisor } = parts;
  start.undoBy(() => membership.close());
  start.undoBy(async () => parts.stopWatching());
  start.undoBy(async () => parts.among.close());
  await parts.recover();
  wired.monitoring.watch(supervisor.here);
  wired.inspection?.of(supervisor);
  wired.books.health.keepTo((identity) => supervisor.has(identity));
  await supervisor.start(configuration.wanted, configuration.settings);
  const { among } = parts;
  return { wired: { ...wired, among, sweeps: () => sweepsOf(shared.member, membership) }, supervisor, configuration };
}

async function wiredUp(
  { options, phase, undoBy }: Start,
  opened: Opened,
  settings: Settings,
  clock: Clock,
): Promise<Wired> {
  const { cgroupRoot, env, log, stateDirectory } = options;
  const launcher = await startLauncher({ clock, ...(cgroupRoot == null ? {} : { cgroupRoot }) });
  undoBy(() => launcher.close());
  const environment = new EnvironmentReader({ env, check: options.trust });
  const { store, term } = opened;
  const onFailure = (error: unknown): void => phase.fail(error);
  const books = endpointBooks({ clock, store, term, stateDirectory, env, shared: opened.shared, onFailure });
  const planners = plannersOf(options, clock);
  undoBy(() => planners.close());
  const unseal = (sealed: string) => books.secrets.unseal(sealed);
  const dispatcher = new SplitDispatcher(createDispatcher({ clock, env, unseal }), books.workers);
  const router = new RunnerRouter(launcher, dispatcher, environment);
  const runners = new ToldRunner(router, clock, outputLines(log));
  undoBy(() => runners.close());
  const inspection = await inspectionOf(
    { own: options.inspect ?? null, hasDoors: (options.doors ?? []).length > 0 },
    { clock, phase, store, runner: runners, log },
  );
  undoBy(async () => inspection?.close());
  const runner = new QuotaRunner(inspection?.runner ?? runners, books.quotas);
  const gates = new Gates(
    runner,
    () => isHalted(phase.snapshot),
    () => lastStartAt(term, clock),
    roomForGates(hostRoom()),
  );
  const telling = await tellingOf(
    {
      ...{ clock, log, store, term, runner: runners, monitoring: opened.monitoring },
      outputDirectory: outputDirectoryIn(stateDirectory),
      baseEnv: baseEnvOf(options),
      newId: () => newAttemptId(clock),
      mayStart: () => mayStart(phase.snapshot),
      onFatal: (error) => phase.fail(error),
      isShared: opened.shared !== null,
    },
    settings,
  );
  undoBy(async () => telling.messenger.close());
  return {
    ...opened,
    clock,
    sweeps: (jobs) => [{ store, dropsOld: true, jobs }],
    runner,
    unwatched: runners,
    gates,
    inspection,
    books,
    planners,
    ...telling,
    ...eventsRemembered(),
    among: null,
  };
}

function eventsRemembered(): Pick<Wired, "events" | "recent"> {
  const [events, recent] = [new EventFeed(), new RecentEnds()];
  events.subscribe((event) => recent.tell(event));
  return { events, recent };
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

interface StartPlace extends Pick<DaemonParts, "clock" | "term" | "store"> {
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

/** S5: the start plans anew anyway; here people are told why their jobs may run at other times. */
async function announceZoneData(store: StateStore, use: ZoneUse, log: DaemonLog, at: EpochMs): Promise<void> {
  const before = await readBootNote(store);
  const change = before === null ? null : zoneDataChange(before, use, zoneDataVersion());
  if (change === null) return;
  log.daemon({ at, event: "zone_data_changed", component: "scheduler", level: "warn", fields: { ...change } });
}
