/** The operator as a whole: watches, controller, Lease and those who are told. Boot order and the way out. */
import type { Clock, Timer } from "../actors/clock.js";
import { MINUTE_MS, SECOND_MS } from "../core/time/instant.js";
import { Controller } from "./controller.js";
import { EventRecorder, eventReporter } from "./events.js";
import { KubeGateway } from "./gateway.js";
import { GROUP, LABEL, PLURAL, VERSION } from "./identity.js";
import type { Scope } from "./job-cache.js";
import { CLIENT_TIMES, type ClientObserver, type ClientTimes, KubeClient, SILENT_OBSERVER } from "./kube/client.js";
import type { ClusterConfig } from "./kube/config.js";
import type { Job, KronJob, KubeObject } from "./kube/types.js";
import { Watch, type WatchHandler } from "./kube/watch.js";
import { LeaseHolder, type LeaseListener, type LeaseOptions } from "./lease.js";
import { logReporter, type OperatorLog } from "./log-reporter.js";
import { type MetricSource, operatorMetrics } from "./metrics.js";
import { startRefusal } from "./refusals.js";
import { type Reporter, reporters } from "./reporter.js";

export interface OperatorOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: OperatorLog;
  readonly metrics: MetricSource | null;
  /** Metrics by KronJob, too. */
  readonly isDetailed?: boolean;
  /** None: all of them. */
  readonly namespaces: readonly string[];
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
/** Silent for so long, it is asked something, so that a quiet cluster and a lost one can be told apart. */
const PROBE_MS = 20 * SECOND_MS;
/** A look is bounded by the time-outs of its requests, and a wake by the waker: beyond, something is stuck. */
const STUCK_LOOK_MS = 5 * MINUTE_MS;
const STUCK_WAKE_MS = 2 * MINUTE_MS;
/** Apart by more, the two do not agree on what is due. */
const SKEW_MS = SECOND_MS;
const DRAIN_MS = 4 * SECOND_MS;
/** With giving the Lease back. */
const STOP_MS = 5 * SECOND_MS;

interface Report {
  readonly isOk: boolean;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

export class Operator {
  readonly controller: Controller;
  readonly #options: OperatorOptions;
  readonly #client: KubeClient;
  readonly #events: EventRecorder;
  /** One of each for every namespace that is looked after. */
  readonly #jobs: readonly Watch<Job>[];
  readonly #kronJobs: readonly Watch<KronJob>[];
  /** A watch that gave up: nothing of it can be relied on any more. */
  #hasGivenUp = false;
  readonly #lease: LeaseHolder | null;
  #reporter: Reporter | null = null;
  #heardMs = 0;
  #probing: Timer | null = null;
  #isSynced = false;
  #isAborted = false;
  #synced: () => void = () => undefined;
  #jobsListed: () => void = () => undefined;

  constructor(options: OperatorOptions) {
    this.#options = options;
    const { config, clock, random, log, standbyMs, metrics: source } = options;
    const metrics = source === null ? null : operatorMetrics(source, clock, () => this.#numbers(), options.isDetailed);
    const observer = this.#listening(metrics?.observer ?? SILENT_OBSERVER);
    this.#client = new KubeClient(config, observer, options.times ?? CLIENT_TIMES);
    const onLost = (error: unknown): void => this.#reporter?.eventTrouble(error);
    this.#events = new EventRecorder(this.#client, clock, options.holder, onLost);
    const toLog = logReporter(log, clock);
    const toEvents = { ...SILENT, ...eventReporter(this.#events) };
    const reporter = reporters([toLog, toEvents, ...(metrics === null ? [] : [metrics.reporter])]);
    this.#reporter = reporter;
    const gateway = new KubeGateway(this.#client, clock, options.tzVersion);
    this.controller = new Controller({ gateway, clock, reporter, random, standbyMs });
    const scopes: readonly Scope[] = options.namespaces.length === 0 ? [null] : [...new Set(options.namespaces)];
    this.#jobs = scopes.map((scope) => {
      const handler = afterFirstList(this.controller.jobHandler(scope), () => this.#jobsListed());
      return this.#watch("batch/v1", "jobs", handler, scope, { labelSelector: LABEL.name });
    });
    this.#kronJobs = scopes.map((scope) => {
      const handler = afterFirstList(this.controller.kronJobHandler(scope), () => this.#synced());
      return this.#watch(`${GROUP}/${VERSION}`, PLURAL, handler, scope, {});
    });
    const { lease, holder } = options;
    const listener: LeaseListener = {
      changed: (isFirst) => this.#leads(isFirst),
      found: (lastSignAt) => this.controller.begun(lastSignAt),
      trouble: (error) => reporter.leaseTrouble(error),
    };
    this.#lease = lease === null ? null : new LeaseHolder(this.#client, clock, { ...lease, holder }, listener);
  }

  get server(): string {
    return this.#options.config.server.origin;
  }

  /** Resolves when everything is known and the work has begun; rejects when it never can. */
  async start(): Promise<void> {
    // Jobs first: a KronJob whose Jobs are not known yet would be looked at in vain.
    await this.#listAll(this.#jobs, "jobs.batch", (done) => {
      this.#jobsListed = done;
    });
    await this.#listAll(this.#kronJobs, `${PLURAL}.${GROUP}`, (done) => {
      this.#synced = done;
    });
    if (this.#isAborted) return;
    this.#isSynced = true;
    if (this.#lease === null) this.controller.setFirst(true);
    else this.#lease.start();
    this.controller.start();
    this.#probe();
  }

  /** Resolves when each of them has listed. One that ends later, whatever the reason, is no use, and neither are we. */
  #listAll(
    watches: readonly Watch<KubeObject>[],
    resource: string,
    onList: (listed: () => void) => void,
  ): Promise<void> {
    return new Promise<void>((done, fail) => {
      let left = watches.length;
      onList(() => {
        left -= 1;
        if (left === 0) done();
      });
      for (const watch of watches) {
        watch.run().catch((error: unknown) => {
          this.#hasGivenUp = true;
          if (left <= 0) this.#reporter?.watchTrouble(resource, error, "relist");
          fail(startRefusal(error, resource));
        });
      }
    });
  }

  /** What was claimed is released first; then whoever waits for the Lease may have it. */
  async stop(): Promise<void> {
    this.#isSynced = false;
    const stopBound = bound(STOP_MS);
    await Promise.race([this.controller.stop().then(() => this.#events.flush()), bound(DRAIN_MS)]);
    await Promise.race([this.#lease?.stop(), stopBound]);
    this.abort();
  }

  /** At once, as if it had been killed. */
  abort(): void {
    this.#isAborted = true;
    this.#probing?.cancel();
    for (const watch of [...this.#jobs, ...this.#kronJobs]) watch.stop();
    this.#lease?.halt();
    this.controller.halt();
    this.#client.close();
  }

  /** Whether the loop turns: somebody who asks this process alone cannot know better. */
  health(): Report {
    const { lookMs, wakeMs } = this.controller.lag;
    return {
      isOk: !this.#hasGivenUp && lookMs < STUCK_LOOK_MS && wakeMs < STUCK_WAKE_MS,
      details: {
        kronjobs: this.controller.kronJobs,
        longest_look_seconds: Math.round(lookMs / SECOND_MS),
        since_wake_seconds: Math.round(wakeMs / SECOND_MS),
      },
    };
  }

  /** Leadership is not asked for: every one of them is ready to act. */
  readiness(): Report {
    const silentMs = this.#silentMs();
    return {
      isOk: this.#isSynced && silentMs < CONTACT_MS,
      details: {
        synced: this.#isSynced,
        leader: this.#lease?.isFirst ?? true,
        silent_seconds: Math.round(silentMs / 1000),
      },
    };
  }

  #silentMs(): number {
    const contacts = [...this.#jobs, ...this.#kronJobs].map(({ lastContactMs }) => lastContactMs ?? 0);
    return this.#options.clock.monotonicMs() - Math.max(this.#heardMs, ...contacts);
  }

  /** An answer is a sign of life, whatever it says; that of a proxy before a server that is gone is none. */
  #listening(observer: ClientObserver): ClientObserver {
    return {
      answered: (operation, status) => {
        if (status > 0 && status < 500) this.#heardMs = this.#options.clock.monotonicMs();
        observer.answered(operation, status);
      },
      serverTime: (at) => {
        observer.serverTime(at);
        // Told in whole seconds: half of one is the best guess at the rest.
        const skewMs = at + SECOND_MS / 2 - this.#options.clock.now();
        if (Math.abs(skewMs) > SKEW_MS + SECOND_MS / 2) this.#reporter?.clockSkew(Math.round(skewMs));
      },
    };
  }

  #probe(): void {
    if (this.#isAborted) return;
    const isSilent = this.#silentMs() >= PROBE_MS;
    if (isSilent)
      this.#client.send({ method: "GET", path: "/version", operation: "get version" }).catch(() => undefined);
    this.#probing = this.#options.clock.after(PROBE_MS, () => this.#probe());
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
    scope: Scope,
    selector: { readonly labelSelector?: string },
  ): Watch<T> {
    const { clock, random } = this.#options;
    const place = scope === null ? "" : `/namespaces/${scope}`;
    const target = { path: `/apis/${api}${place}/${resource}`, resource, ...selector };
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

function bound(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms).unref());
}

function afterFirstList<T extends KubeObject>(handler: WatchHandler<T>, then: () => void): WatchHandler<T> {
  let isFirst = true;
  const end = (): void => {
    handler.end();
    if (isFirst) then();
    isFirst = false;
  };
  return { ...handler, end };
}

const SILENT = {
  trouble: () => undefined,
  conflict: () => undefined,
  looked: () => undefined,
  watchTrouble: () => undefined,
  leaseTrouble: () => undefined,
  eventTrouble: () => undefined,
  clockSkew: () => undefined,
  clockJump: () => undefined,
};
