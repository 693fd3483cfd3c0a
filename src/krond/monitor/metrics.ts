/** The metrics of the daemon, by name: what counts, what is measured, and in which units. */
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import type { DecisionRecord } from "../../core/decision/model.js";
import { knownReason } from "../../core/period/reasons.js";
import { readEnding, resultOf } from "../../core/state/ending.js";
import { RETRY_SOURCE } from "../../core/state/retry.js";
import { type EpochMs, instantOrNull, SECOND_MS } from "../../core/time/instant.js";
import { JobGauges, type LastRun, OWN_SERIES } from "./job-gauges.js";
import type { LoopDelayProbe } from "./loop-delay.js";
import { MetricRegistry } from "./metric-registry.js";

export const DAEMON_METRIC_LIMITS = {
  jobs: OWN_SERIES,
  /** Runs whose start is remembered, to know how long they took. */
  openRuns: 100_000,
} as const;

const LATENESS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const DURATION_BUCKETS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 86_400];
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

const RUN_RESULTS = ["success", "failure", "signal", "unknown"] as const;
const NOTIFICATION_RESULTS = ["delivered", "failed", "grouped", "given_up"] as const;
export type NotificationResult = (typeof NOTIFICATION_RESULTS)[number];

/** What is attempted when a run is to begin. */
const STARTING: ReadonlySet<string> = new Set(["arm", "start"]);

export interface DaemonMetricOptions {
  readonly status: () => { readonly jobs: number; readonly active: number };
  /** Which jobs have series of their own; none by default. */
  readonly hasOwnSeries?: (identity: string) => boolean;
  readonly loopDelay?: LoopDelayProbe;
  /** Lines of the log that could not be written. */
  readonly lostLogLines?: () => number;
  /** Messages that nobody has yet. */
  readonly waitingNotices?: () => number;
}

/** Of a daemon that shares its store with others. */
export interface NodeGauges {
  readonly shards: number;
  readonly revision: number;
  readonly offsetMs: number;
}

export class DaemonMetrics {
  readonly registry = new MetricRegistry();
  readonly #hasOwnSeries: (identity: string) => boolean;
  readonly #runs = new OpenRuns();

  readonly #periods = this.registry.counter({
    name: "kron_periods_total",
    help: "Periods that reached an outcome.",
    labels: ["outcome", "reason"],
  });
  readonly #ended = this.registry.counter({
    name: "kron_runs_total",
    help: "Runs that ended, by result: success, failure (exit code, status, no answer), signal, unknown (nobody saw the end).",
    labels: ["result"],
  });
  readonly #bySource = this.registry.counter({
    name: "kron_runs_by_source_total",
    help: "Runs that ended, by what asked for them (cron, interval, hint-interval, hint-oneshot, manual, ...) and result.",
    labels: ["source", "result"],
  });
  readonly #retries = this.registry.counter({
    name: "kron_retries_total",
    help: "Further attempts of runs that failed, as they ended, by result; kron_runs_by_source_total has them as retry.",
    labels: ["result"],
  });
  readonly #notifications = this.registry.counter({
    name: "kron_notifications_total",
    help: "Messages to people, by result: delivered, failed (a try, to be made again), grouped (many became one), given_up.",
    labels: ["result"],
  });
  readonly #startFailures = this.registry.counter({
    name: "kron_start_failures_total",
    help: "Attempts to start a run that failed, by the reason that the log gives.",
    labels: ["code"],
  });
  readonly #notStarted = this.registry.counter({
    name: "kron_slots_not_started_total",
    help: "Periods (cron) and slots (of intervals, hints, retries) whose starts began to fail, by the reason; once for each.",
    labels: ["source", "reason"],
  });
  readonly #duration = this.registry.histogram({
    name: "kron_run_duration_seconds",
    help: "From the start of a run to its end.",
    buckets: DURATION_BUCKETS,
  });
  readonly #lateness = this.registry.histogram({
    name: "kron_start_lateness_seconds",
    help: "From the chosen time to the start.",
    buckets: LATENESS_BUCKETS,
  });
  readonly #commit = this.registry.histogram({
    name: "kron_commit_seconds",
    help: "Durable transactions of the state store.",
    buckets: COMMIT_BUCKETS,
  });
  readonly #nextRun = this.registry.gauge({
    name: "kron_job_next_run_timestamp_seconds",
    help: "When the job is to run next, now if it is due; only for jobs with series of their own.",
    labels: ["identity"],
    maxSeries: DAEMON_METRIC_LIMITS.jobs,
  });
  readonly #lastSuccess = this.registry.gauge({
    name: "kron_job_last_success_timestamp_seconds",
    help: "When a run of the job last succeeded; only for jobs with series of their own.",
    labels: ["identity"],
    maxSeries: DAEMON_METRIC_LIMITS.jobs,
  });
  readonly #ofJobs = new JobGauges(this.registry);
  readonly #jobFailures = this.registry.counter({
    name: "kron_job_failures_total",
    help: "Runs of the job that ended without success; only for jobs with series of their own.",
    labels: ["identity"],
    maxSeries: DAEMON_METRIC_LIMITS.jobs,
  });
  readonly #reloadOk = this.registry.gauge({
    name: "kron_config_last_reload_successful",
    help: "Whether all of the configuration could be taken over when it was last read, 0 or 1.",
  });
  readonly #reloadAt = this.registry.gauge({
    name: "kron_config_last_reload_success_timestamp_seconds",
    help: "When all of the configuration was last taken over.",
  });
  readonly #aheadOfClock = this.registry.counter({
    name: "kron_state_ahead_of_clock_total",
    help: "Times that a job's state was found ahead of the clock: the job does not run until the clock has caught up.",
  });

  constructor({ status, hasOwnSeries = () => false, loopDelay, lostLogLines, waitingNotices }: DaemonMetricOptions) {
    this.#hasOwnSeries = hasOwnSeries;
    const jobs = this.registry.gauge({ name: "kron_jobs", help: "Jobs in force." });
    const active = this.registry.gauge({ name: "kron_active", help: "Runs under way." });
    this.registry.onCollect(() => {
      const now = status();
      jobs.set(now.jobs);
      active.set(now.active);
    });
    if (loopDelay !== undefined) this.#collectLoopDelay(loopDelay);
    if (lostLogLines !== undefined) this.#collectLostLines(lostLogLines);
    if (waitingNotices !== undefined) this.#collectWaiting(waitingNotices);
    // Whoever asks for a rate has something to go by before the first of them.
    for (const result of NOTIFICATION_RESULTS) this.#notifications.inc({ result }, 0);
    for (const result of RUN_RESULTS) this.#retries.inc({ result }, 0);
  }

  watchNode(facts: () => NodeGauges): void {
    const gauge = (name: string, help: string) => this.registry.gauge({ name, help });
    const shards = gauge("kron_node_shards", "Shards that this node looks after.");
    const revision = gauge("kron_node_revision", "The set of definitions that is in force in all of them.");
    const offset = gauge("kron_clock_offset_ms", "How far the clock of this machine is ahead of the database's.");
    this.registry.onCollect(() => {
      const now = facts();
      shards.set(now.shards);
      revision.set(now.revision);
      offset.set(now.offsetMs);
    });
  }

  /** What came of a message, or of a try. */
  notified(result: NotificationResult): void {
    this.#notifications.inc({ result });
  }

  committed(seconds: number): void {
    this.#commit.observe(seconds);
  }

  /** null: it has none any more. */
  nextRun(identity: string, at: EpochMs | null): void {
    if (!this.#hasOwnSeries(identity)) return;
    if (at === null) this.#nextRun.remove({ identity });
    else this.#nextRun.set(at / SECOND_MS, { identity });
  }

  lastSuccess(identity: string, at: EpochMs): void {
    if (this.#hasOwnSeries(identity)) this.#lastSuccess.set(at / SECOND_MS, { identity });
  }

  /** A job that never ran has no failures, and says so. */
  known(identity: string): void {
    if (this.#hasOwnSeries(identity)) this.#jobFailures.inc({ identity }, 0);
  }

  /** The newest run that has ended; null: none is on record. */
  lastRun(identity: string, run: LastRun | null, failures: number): void {
    if (this.#hasOwnSeries(identity)) this.#ofJobs.show(identity, run, failures);
  }

  configurationRead(at: EpochMs, problems: number): void {
    this.#reloadOk.set(problems === 0 ? 1 : 0);
    if (problems === 0) this.#reloadAt.set(at / SECOND_MS);
  }

  /** Everything that can be told from what the supervisor tells the log. */
  observe(event: SupervisorEvent): void {
    const { identity = "", periodId = "", fields = {} } = event;
    switch (event.event) {
      case "trigger":
      case "missed_deadline":
      case "skipped_concurrency":
      case "skipped":
      case "unschedulable":
        this.#periods.inc({ outcome: textOf(fields["outcome"]), reason: knownReason(textOf(fields["reason"])) });
        if (event.event === "trigger") this.#runs.expect(runKey(identity, periodId), chosenAtOf(fields["decision"]));
        break;
      case "started":
        this.#started(event, runKey(identity, periodId));
        break;
      case "completed":
        this.#completed(event, runKey(identity, periodId));
        break;
      case "not_started":
        this.#notStarted.inc({ source: textOf(fields["source"]), reason: knownReason(textOf(fields["reason"])) });
        return;
      case "error":
        this.#failed(event);
        break;
      case "state_ahead_of_clock":
        this.#aheadOfClock.inc();
        break;
      case "removed":
        this.forget(identity);
        break;
    }
  }

  /** It has no series of its own here any more. */
  forget(identity: string): void {
    this.#nextRun.remove({ identity });
    this.#lastSuccess.remove({ identity });
    this.#jobFailures.remove({ identity });
    this.#ofJobs.remove(identity);
  }

  #started({ at }: SupervisorEvent, key: string): void {
    const chosenAt = this.#runs.started(key, at);
    if (chosenAt !== null) this.#lateness.observe(Math.max(0, at - chosenAt) / SECOND_MS);
  }

  /** Nothing was begun; a run that ended badly is told of by its end. */
  #failed({ error }: SupervisorEvent): void {
    if (error === undefined || !(STARTING.has(error.operation) || error.code === "exec-failed")) return;
    this.#startFailures.inc({ code: error.code });
  }

  #completed({ at, identity = "", fields = {} }: SupervisorEvent, key: string): void {
    const result = resultOf(readEnding(fields));
    this.#ended.inc({ result });
    const source = textOf(fields["source"]) || "cron";
    this.#bySource.inc({ source, result });
    if (source === RETRY_SOURCE) this.#retries.inc({ result });
    if (result !== "success" && this.#hasOwnSeries(identity)) this.#jobFailures.inc({ identity });
    const startedAt = this.#runs.ended(key);
    if (startedAt !== null) this.#duration.observe(Math.max(0, at - startedAt) / SECOND_MS);
    if (result === "success") this.lastSuccess(identity, at);
  }

  #collectLoopDelay(probe: LoopDelayProbe): void {
    const help = "How late the event loop was; the quantiles are of the time since the last scrape, 1 is the worst.";
    const summary = this.registry.summary({ name: "kron_event_loop_delay_seconds", help });
    this.registry.onCollect(() => summary.observe(probe.read()));
  }

  #collectWaiting(waitingNotices: () => number): void {
    const help = "Messages that nobody has yet, of whatever place.";
    const waiting = this.registry.gauge({ name: "kron_notifications_waiting", help });
    this.registry.onCollect(() => waiting.set(waitingNotices()));
  }

  #collectLostLines(lostLogLines: () => number): void {
    const help = "Lines of the log that could not be written.";
    const counter = this.registry.counter({ name: "kron_log_lines_lost_total", help });
    let known = 0;
    this.registry.onCollect(() => {
      const lost = lostLogLines();
      counter.inc({}, lost - known);
      known = lost;
    });
  }
}

/** Runs that are under way, as far as they are remembered. */
class OpenRuns {
  readonly #runs = new Map<string, { chosenAt: EpochMs | null; startedAt: EpochMs | null }>();

  expect(key: string, chosenAt: EpochMs | null): void {
    this.#entry(key).chosenAt = chosenAt;
  }

  /** When it was to start; null when nobody said so. */
  started(key: string, at: EpochMs): EpochMs | null {
    const entry = this.#entry(key);
    entry.startedAt = at;
    return entry.chosenAt;
  }

  /** When it started; null when nobody saw it. */
  ended(key: string): EpochMs | null {
    const startedAt = this.#runs.get(key)?.startedAt ?? null;
    this.#runs.delete(key);
    return startedAt;
  }

  #entry(key: string): { chosenAt: EpochMs | null; startedAt: EpochMs | null } {
    const known = this.#runs.get(key);
    if (known !== undefined) return known;
    // The oldest give way: a measurement is lost, not memory.
    const [oldest] = this.#runs.size >= DAEMON_METRIC_LIMITS.openRuns ? this.#runs.keys() : [];
    if (oldest !== undefined) this.#runs.delete(oldest);
    const made = { chosenAt: null, startedAt: null };
    this.#runs.set(key, made);
    return made;
  }
}

function runKey(identity: string, periodId: string): string {
  return `${identity}\n${periodId}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function chosenAtOf(decision: unknown): EpochMs | null {
  if (typeof decision !== "object" || decision === null) return null;
  return instantOrNull((decision as DecisionRecord).chosen_time);
}
