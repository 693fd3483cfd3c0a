/**
 * Kubernetes Events, as `kubectl describe` shows them. They tell, nothing depends on them: the same one within ten minutes
 * is counted instead of repeated, an object gets so many and no more, and one that is lost stops no work.
 */
import type { Clock } from "../actors/clock.js";
import { formatSecond, MINUTE_MS, SECOND_MS } from "../core/time/instant.js";
import { API_VERSION, KIND } from "./identity.js";
import type { KubeClient } from "./kube/client.js";
import type { KronJob } from "./kube/types.js";
import { OPERATOR_LIMITS } from "./limits.js";
import type { Reporter } from "./reporter.js";
import { type EventText, eventOf } from "./tell.js";

export const EVENT_LIMITS = {
  /** Of one object at once, and how long until it may have another. */
  burst: 25,
  refillMs: 5 * MINUTE_MS,
  sameMs: 10 * MINUTE_MS,
  /** Waiting to be sent; beyond, they are dropped. */
  waiting: 1_000,
  gapMs: SECOND_MS / 50,
  remembered: 5_000,
} as const;

interface Known {
  readonly name: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

interface Waiting {
  readonly kronJob: KronJob;
  readonly text: EventText;
}

export class EventRecorder {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #known = new Map<string, Known>();
  readonly #tokens = new Map<string, { readonly left: number; readonly at: number }>();
  readonly #waiting: Waiting[] = [];
  #sending: Promise<void> | null = null;
  dropped = 0;

  constructor(client: KubeClient, clock: Clock, holder: string) {
    this.#client = client;
    this.#clock = clock;
    this.#holder = holder;
  }

  record(kronJob: KronJob, text: EventText): void {
    if (this.#waiting.length >= EVENT_LIMITS.waiting || !this.#mayTell(kronJob.metadata.uid)) {
      this.dropped += 1;
      return;
    }
    this.#waiting.push({ kronJob, text });
    this.#sending ??= this.#sendAll();
  }

  /** Until everything that waits is sent, or was given up. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#send(next).catch(() => {
        this.dropped += 1;
      });
      if (this.#waiting.length > 0) await new Promise<void>((done) => this.#clock.after(EVENT_LIMITS.gapMs, done));
    }
    this.#sending = null;
  }

  async #send({ kronJob, text }: Waiting): Promise<void> {
    const now = this.#clock.now();
    const { namespace, uid } = kronJob.metadata;
    const key = `${uid} ${text.reason} ${text.message}`;
    const known = this.#known.get(key);
    const path = `/api/v1/namespaces/${namespace}/events`;
    if (known !== undefined && now - known.lastAt < EVENT_LIMITS.sameMs) {
      const body = { count: known.count + 1, lastTimestamp: formatSecond(now) };
      this.#known.set(key, { ...known, count: known.count + 1, lastAt: now });
      await this.#client.send({ method: "PATCH", path: `${path}/${known.name}`, body, operation: "patch events" });
      return;
    }
    const name = `${kronJob.metadata.name}.${now.toString(16)}${Math.floor(this.#clock.monotonicMs() * 1000).toString(16)}`;
    await this.#client.send({
      method: "POST",
      path,
      body: this.#body(kronJob, text, name, now),
      operation: "create events",
    });
    this.#remember(key, { name, count: 1, firstAt: now, lastAt: now });
  }

  #body({ metadata }: KronJob, { type, reason, message }: EventText, name: string, now: number): unknown {
    const { namespace, uid, resourceVersion } = metadata;
    const at = formatSecond(now);
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace },
      involvedObject: { apiVersion: API_VERSION, kind: KIND, namespace, name: metadata.name, uid, resourceVersion },
      type,
      reason,
      message: message.slice(0, OPERATOR_LIMITS.eventMessageChars),
      count: 1,
      firstTimestamp: at,
      lastTimestamp: at,
      source: { component: "kron-operator" },
      reportingComponent: "kron.io/kron-operator",
      reportingInstance: this.#holder,
    };
  }

  #remember(key: string, known: Known): void {
    if (this.#known.size >= EVENT_LIMITS.remembered) this.#known.clear();
    this.#known.set(key, known);
  }

  #mayTell(uid: string): boolean {
    const now = this.#clock.monotonicMs();
    const { burst, refillMs, remembered } = EVENT_LIMITS;
    const known = this.#tokens.get(uid) ?? { left: burst, at: now };
    const left = Math.min(burst, known.left + (now - known.at) / refillMs);
    if (this.#tokens.size >= remembered) this.#tokens.clear();
    this.#tokens.set(uid, { left: left >= 1 ? left - 1 : left, at: now });
    return left >= 1;
  }
}

export function eventReporter(recorder: EventRecorder): Pick<Reporter, "news"> {
  return {
    news: (kronJob, news) => {
      const text = eventOf(news);
      if (text !== null) recorder.record(kronJob, text);
    },
  };
}
