/** Which part is given what: the supervisor and what watches over it, as this daemon has them. */

import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../actors/clock.js";
import type { Notices } from "../../actors/messenger/notices.js";
import type { Phase } from "../../actors/phase.js";
import type { DecisionPool, PlanProgress } from "../../actors/pool/types.js";
import { HostCheck } from "../../actors/preflight/host-check.js";
import { readBootId } from "../../actors/process-identity.js";
import type { Runner } from "../../actors/runner/port.js";
import type { Supervisor, SupervisorPorts } from "../../actors/supervisor/port.js";
import type { Gates } from "../../actors/supervisor/run/gates.js";
import { createSupervisor } from "../../actors/supervisor/supervisor-actor.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import type { Settings } from "../../core/config/settings.js";
import { healthPhase } from "../../machines/supervisor-phase.js";
import { copiesIn } from "../../persist/corrupt-copies.js";
import { Monitoring } from "../monitor/monitoring.js";
import { outputDirectoryIn } from "../state/directory.js";
import type { DaemonOptions, DaemonParts } from "./daemon-parts.js";
import { createNotifier, type Notifier } from "./notify.js";

/** What a job's PATH begins with: what cron daemons of Linux systems give. */
const BASE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Where the plans of all jobs come from. */
export interface Planning {
  readonly pool: DecisionPool;
  say(done: number, total: number, unit: string): void;
}

/** What there is before anything is scheduled. */
export interface Wired extends Omit<DaemonParts, "phase" | "supervisor" | "loader" | "pool" | "newHostCheck"> {
  /** One for the whole node, however many supervisors it has. */
  readonly gates: Gates;
  readonly notices: Notices;
  /** The runner without the eyes of an inspector: for what is no run of a job. */
  readonly unwatched: Runner;
  /** C14: what becomes of runs between nodes; absent: there is one alone. */
  readonly between?: Pick<SupervisorPorts, "elsewhere" | "onAway">;
}

export function supervisorOf(
  options: DaemonOptions,
  phase: Phase,
  {
    books,
    clock,
    term,
    store,
    runner,
    gates,
    monitoring,
    inspection,
    notices,
    events,
    planners,
    shared,
    between,
  }: Wired,
  planning: Planning,
): Supervisor {
  return createSupervisor({
    ...between,
    clock,
    store,
    term,
    runner,
    gates,
    phase,
    copies: copiesIn(options.stateDirectory),
    bootId: readBootId(),
    ...(shared === null ? {} : { node: shared.member.node }),
    versions: { tzVersion: zoneDataVersion(), engineVersion: ENGINE_VERSION },
    outputDirectory: outputDirectoryIn(options.stateDirectory),
    baseEnv: baseEnvOf(options),
    notices,
    newId: () => newAttemptId(clock),
    plan: (wanted, planned) => {
      const onProgress = ({ done, total }: PlanProgress): void => planning.say(done, total, "jobs");
      return planning.pool.planAll(wanted, { ...planned, onProgress });
    },
    ...(inspection === null ? {} : { observer: inspection.observer }),
    onRunEnded: (identity, ending, at) => {
      books.health.ended(identity, ending, at);
      planners.analyst.ended(identity);
    },
    onEvent: (event) => {
      // Of several shards it is told once, by `revision_applied`.
      if (shared !== null && event.event === "config_reloaded") return;
      options.log.supervisor(event);
      monitoring.observe(event);
      events.tell(event);
    },
  });
}

export function hostCheckOf(
  options: DaemonOptions,
  { clock, unwatched: runner }: Wired,
  { notifications }: Settings,
): HostCheck {
  const { env } = options;
  const ids = { now: () => clock.now(), newId: () => newAttemptId(clock) };
  const { sendmail } = notifications;
  return new HostCheck({ runner, baseEnv: baseEnvOf(options), env, sendmail, isStarter: true, ...ids });
}

/** What every command finds in its environment. */
export function baseEnvOf({ env }: DaemonOptions): Readonly<Record<string, string>> {
  return jobBaseEnv(env);
}

export function jobBaseEnv(env: DaemonOptions["env"]): Readonly<Record<string, string>> {
  return { PATH: BASE_PATH, LANG: env["LANG"] || "C.UTF-8" };
}

/** Sorts by time, so that the output files of a job do too. Node keeps a stock of random UUIDs; bytes it fetches anew. */
export function newAttemptId(clock: Clock): string {
  const [random = "", more = ""] = randomUUID().split("-");
  return `${clock.now().toString(36).padStart(9, "0")}-${random}${more}`;
}

export function monitoringOf(options: DaemonOptions, phase: Phase): Monitoring {
  const { log, metrics: listen, metricsJobs: ownSeries = [] } = options;
  return new Monitoring({
    clock: systemClock,
    notifier: notifierOf(options),
    listen,
    ownSeries,
    phase: () => healthPhase(phase.snapshot),
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
