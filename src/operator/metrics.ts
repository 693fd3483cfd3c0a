/** What the operator counts. The registry comes from outside: it is the one that krond's numbers are kept in, too. */
import type { Clock } from "../actors/clock.js";
import { KronError } from "../core/base/errors/kron-error.js";
import { SECOND_MS } from "../core/time/instant.js";
import type { ClientObserver } from "./kube/client.js";
import type { KronJob } from "./kube/types.js";
import type { News } from "./plan/news.js";
import type { Reporter } from "./reporter.js";

type Labels = Readonly<Record<string, string>>;

interface MetricShape {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface MetricSource {
  counter(options: MetricShape): { inc(labels?: Labels, by?: number): void };
  gauge(options: MetricShape): { set(value: number, labels?: Labels): void };
  histogram(options: MetricShape & { readonly buckets: readonly number[] }): {
    observe(value: number, labels?: Labels): void;
  };
  onCollect(collect: () => void): void;
}

interface Numbers {
  readonly kronJobs: number;
  readonly jobs: number;
  readonly active: number;
  readonly queueDepth: number;
  readonly isFirst: boolean;
  readonly droppedEvents: number;
}

const START_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const LOOK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** The API server tells its time in whole seconds. */
const SKEW_TOLD_MS = 2 * SECOND_MS;

interface OperatorMetrics {
  readonly reporter: Reporter;
  readonly observer: ClientObserver;
}

/** `isDetailed`: also by KronJob, which is a series for each of them and each of its outcomes. */
export function operatorMetrics(
  source: MetricSource,
  clock: Clock,
  numbers: () => Numbers,
  isDetailed = false,
): OperatorMetrics {
  const counter = (name: string, help: string, labels: readonly string[] = []) =>
    source.counter({ name, help, labels });
  const periods = counter("kron_periods_total", "Periods that reached an outcome.", ["outcome", "reason"]);
  const runs = counter("kron_runs_total", "Jobs that ended, by how.", ["result"]);
  const detail = isDetailed
    ? counter("kron_kronjob_periods_total", "Periods and runs by KronJob.", ["namespace", "kronjob", "outcome"])
    : null;
  const lateness = source.histogram({
    name: "kron_start_lateness_seconds",
    help: "From the chosen second to the release of the Job.",
    buckets: START_BUCKETS,
  });
  const looks = source.histogram({
    name: "kron_reconcile_seconds",
    help: "One look at a KronJob.",
    buckets: LOOK_BUCKETS,
  });
  const errors = counter("kron_reconcile_errors_total", "Looks that failed and are repeated.", ["reason"]);
  const conflicts = counter("kron_conflicts_total", "Looks that another writer came in between.");
  const requests = counter("kron_api_requests_total", "Requests to the API server.", ["operation", "code"]);
  const watches = counter("kron_watch_restarts_total", "Watches that had to begin again.", ["resource", "restart"]);
  const leases = counter("kron_lease_errors_total", "Times that the Lease could not be used.", ["reason"]);
  const skew = source.gauge({ name: "kron_clock_skew_seconds", help: "The API server's clock less ours." });
  collect(source, numbers);
  return {
    reporter: {
      news: (kronJob, news) => {
        if (detail !== null) tellDetail(detail, kronJob, news);
        if (news.kind === "outcome") periods.inc({ outcome: news.outcome, reason: news.reason ?? "" });
        if (news.kind === "denied" || news.kind === "not_created") errors.inc({ reason: news.code });
        if (news.kind === "ended") runs.inc({ result: news.result });
        if (news.kind === "started") lateness.observe(Math.max(0, clock.now() - news.chosenAt) / SECOND_MS);
      },
      trouble: (_subject, error) => errors.inc({ reason: reasonOf(error) }),
      conflict: () => conflicts.inc(),
      looked: (seconds) => looks.observe(seconds),
      watchTrouble: (resource, _error, restart) => watches.inc({ resource, restart }),
      leaseTrouble: (error) => leases.inc({ reason: reasonOf(error) }),
      eventTrouble: () => undefined,
      clockSkew: () => undefined,
      clockJump: () => undefined,
    },
    observer: {
      answered: (operation, status) => requests.inc({ operation, code: String(status) }),
      serverTime: (at) => {
        const skewMs = at - clock.now();
        skew.set(Math.abs(skewMs) < SKEW_TOLD_MS ? 0 : skewMs / SECOND_MS);
      },
    },
  };
}

function tellDetail(detail: { inc(labels: Labels): void }, { metadata }: KronJob, news: News): void {
  const { namespace, name: kronjob } = metadata;
  if (news.kind === "outcome") detail.inc({ namespace, kronjob, outcome: news.outcome });
  if (news.kind === "ended") detail.inc({ namespace, kronjob, outcome: `run_${news.result.toLowerCase()}` });
}

/** A code of the registry: whatever else is in an error has no bound. */
function reasonOf(error: unknown): string {
  return error instanceof KronError ? error.code : "internal";
}

function collect(source: MetricSource, numbers: () => Numbers): void {
  const gauge = (name: string, help: string) => source.gauge({ name, help });
  const kronJobs = gauge("kron_kronjobs", "KronJobs that are looked after.");
  const jobs = gauge("kron_jobs", "Jobs of KronJobs that exist.");
  const active = gauge("kron_active", "Jobs that were claimed and have not been seen to end.");
  const depth = gauge("kron_queue_depth", "KronJobs that wait for a look.");
  const leader = gauge("kron_leader", "1: acts first. 0: leaves that to another for a moment.");
  const dropped = gauge("kron_events_dropped", "Kubernetes Events that were not sent.");
  source.onCollect(() => {
    const now = numbers();
    kronJobs.set(now.kronJobs);
    jobs.set(now.jobs);
    active.set(now.active);
    depth.set(now.queueDepth);
    leader.set(now.isFirst ? 1 : 0);
    dropped.set(now.droppedEvents);
  });
}
