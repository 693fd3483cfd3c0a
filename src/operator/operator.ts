/** The operator as a whole: watches, controller, Lease and those who are told. Boot order and the way out. */
import type { Clock } from "../actors/clock.js";
import { MINUTE_MS, SECOND_MS } from "../core/time/instant.js";
import { Controller } from "./controller.js";
import { EventRecorder, eventReporter } from "./events.js";
import { KubeGateway } from "./gateway.js";
import { GROUP, LABEL, PLURAL, VERSION } from "./identity.js";
import { CLIENT_TIMES, type ClientTimes, KubeClient, SILENT_OBSERVER } from "./kube/client.js";
import type { ClusterConfig } from "./kube/config.js";
import type { Job, KronJob, KubeObject } from "./kube/types.js";
import { Watch, type WatchHandler } from "./kube/watch.js";
import { LeaseHolder, type LeaseOptions } from "./lease.js";
import { logReporter, type OperatorLog } from "./log-reporter.js";
import { type MetricSource, operatorMetrics } from "./metrics.js";
import { startRefusal } from "./refusals.js";
import { reporters } from "./reporter.js";

export interface OperatorOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: OperatorLog;
  readonly metrics: MetricSource | null;
  /** null: all of them. */
  readonly namespace: string | null;
  /** Under which others know this one. */
  readonly holder: string;
  /** null: act first, always. */
  readonly lease: Omit<LeaseOptions, "holder"> | null;
  readonly standbyMs: number;
  readonly tzVersion: string;
  readonly times?: ClientTimes;
}

export const STANDBY_MS = 2 * SECOND_MS;
/** Without a word from the API server for so long, it is no use sending anybody here. */
const CONTACT_MS = MINUTE_MS;
const DRAIN_MS = 5 * SECOND_MS;

export interface Report {
  readonly isOk: boolean;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

export class Operator {
  readonly controller: Controller;
  readonly #options: OperatorOptions;
  readonly #client: KubeClient;
  readonly #events: EventRecorder;
  readonly #jobs: Watch<Job>;
  readonly #kronJobs: Watch<KronJob>;
  readonly #lease: LeaseHolder | null;
  #isSynced = false;
  #isAborted = false;
  #synced: () => void = () => undefined;
  #jobsListed: () => void = () => undefined;

  constructor(options: OperatorOptions) {
    this.#options = options;
    const { config, clock, random, log, standbyMs, metrics: source } = options;
    const metrics = source === null ? null : operatorMetrics(source, clock, () => this.#numbers());
    this.#client = new KubeClient(config, metrics?.observer ?? SILENT_OBSERVER, options.times ?? CLIENT_TIMES);
    this.#events = new EventRecorder(this.#client, clock, options.holder);
    const toLog = logReporter(log, clock);
    const toEvents = { ...SILENT, ...eventReporter(this.#events) };
    const reporter = reporters([toLog, toEvents, ...(metrics === null ? [] : [metrics.reporter])]);
    const gateway = new KubeGateway(this.#client, clock, options.tzVersion);
    this.controller = new Controller({ gateway, clock, reporter, random, standbyMs });
    const { jobHandler, kronJobHandler } = this.controller;
    const listedJobs = afterList(jobHandler, () => this.#jobsListed());
    const listedKronJobs = afterList(kronJobHandler, () => this.#synced());
    this.#jobs = this.#watch("batch/v1", "jobs", listedJobs, LABEL.name);
    this.#kronJobs = this.#watch(`${GROUP}/${VERSION}`, PLURAL, listedKronJobs, null);
    const { lease, holder } = options;
    const onChange = (isFirst: boolean): void => this.#leads(isFirst);
    this.#lease = lease === null ? null : new LeaseHolder(this.#client, clock, { ...lease, holder }, onChange);
  }

  get server(): string {
    return this.#options.config.server.origin;
  }

  /** Resolves when everything is known and the work has begun; rejects when it never can. */
  async start(): Promise<void> {
    await new Promise<void>((done, fail) => {
      // Jobs first: a KronJob whose Jobs are not known yet would be looked at in vain.
      this.#jobsListed = () => {
        this.#jobsListed = () => undefined;
        this.#kronJobs.run().catch((error: unknown) => fail(startRefusal(error, `${PLURAL}.${GROUP}`)));
      };
      this.#synced = done;
      this.#jobs.run().catch((error: unknown) => fail(startRefusal(error, "jobs.batch")));
    });
    this.#synced = () => undefined;
    if (this.#isAborted) return;
    this.#isSynced = true;
    if (this.#lease === null) this.controller.setFirst(true);
    else this.#lease.start();
    this.controller.start();
  }

  /** What was claimed is released first; then whoever waits for the Lease may have it. */
  async stop(): Promise<void> {
    this.#isSynced = false;
    const timer = new Promise<void>((done) => setTimeout(done, DRAIN_MS).unref());
    await Promise.race([this.controller.stop().then(() => this.#events.flush()), timer]);
    await this.#lease?.stop();
    this.abort();
  }

  /** At once, as if it had been killed. */
  abort(): void {
    this.#isAborted = true;
    this.#jobs.stop();
    this.#kronJobs.stop();
    this.#lease?.halt();
    this.controller.halt();
    this.#client.close();
  }

  health(): Report {
    return { isOk: true, details: { kronjobs: this.controller.kronJobs } };
  }

  /** Leadership is not asked for: every one of them is ready to act. */
  readiness(): Report {
    const nowMs = this.#options.clock.monotonicMs();
    const contacts = [this.#jobs, this.#kronJobs].map(({ lastContactMs }) => nowMs - (lastContactMs ?? 0));
    const silentMs = Math.max(...contacts);
    const isInContact = silentMs < CONTACT_MS + (this.#options.times ?? CLIENT_TIMES).silenceMs;
    return {
      isOk: this.#isSynced && isInContact,
      details: {
        synced: this.#isSynced,
        leader: this.#lease?.isFirst ?? true,
        silent_seconds: Math.round(silentMs / 1000),
      },
    };
  }

  #leads(isFirst: boolean): void {
    const { log, clock, holder } = this.#options;
    const event = isFirst ? "leading" : "standing_by";
    log.daemon({ at: clock.now(), event, component: "scheduler", level: "info", fields: { holder } });
    this.controller.setFirst(isFirst);
  }

  #watch<T extends Job | KronJob>(
    api: string,
    resource: string,
    handler: WatchHandler<T>,
    label: string | null,
  ): Watch<T> {
    const { namespace, clock, random } = this.#options;
    const scope = namespace === null ? "" : `/namespaces/${namespace}`;
    const selector = label === null ? {} : { labelSelector: label };
    const target = { path: `/apis/${api}${scope}/${resource}`, resource, ...selector };
    return new Watch<T>(this.#client, target, handler, clock, random);
  }

  #numbers() {
    const { kronJobs, jobs, active, queueDepth } = this.controller;
    return {
      kronJobs,
      jobs,
      active,
      queueDepth,
      isFirst: this.#lease?.isFirst ?? true,
      droppedEvents: this.#events.dropped,
    };
  }
}

function afterList<T extends KubeObject>(handler: WatchHandler<T>, then: () => void): WatchHandler<T> {
  const end = (): void => {
    handler.end();
    then();
  };
  return { ...handler, end };
}

const SILENT = {
  trouble: () => undefined,
  conflict: () => undefined,
  looked: () => undefined,
  watchTrouble: () => undefined,
  clockJump: () => undefined,
};
