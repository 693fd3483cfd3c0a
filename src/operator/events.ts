/**
 * Kubernetes Events, as `kubectl describe` shows them. They tell, nothing depends on them: the same one within ten minutes
 * is counted instead of repeated, an object gets so many and no more, and one that is lost stops no work.
 */
import type { Clock } from "../actors/clock.js";
import { formatSecond, MINUTE_MS, SECOND_MS } from "../core/time/instant.js";
import { API_VERSION, KIND } from "./identity.js";
import type { KubeClient } from "./kube/client.js";
import { ApiFailure } from "./kube/failure.js";
import { OPERATOR_LIMITS } from "./limits.js";
import type { Reporter, Subject } from "./reporter.js";
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
  readonly about: Subject;
  readonly text: EventText;
}

export class EventRecorder {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #onLost: (error: unknown) => void;
  readonly #known = new Map<string, Known>();
  readonly #tokens = new Map<string, { readonly left: number; readonly at: number }>();
  readonly #waiting: Waiting[] = [];
  #sending: Promise<void> | null = null;
  dropped = 0;

  constructor(client: KubeClient, clock: Clock, holder: string, onLost: (error: unknown) => void) {
    this.#client = client;
    this.#clock = clock;
    this.#holder = holder;
    this.#onLost = onLost;
  }

  record(about: Subject, text: EventText): void {
    if (this.#waiting.length >= EVENT_LIMITS.waiting || !this.#mayTell(about.uid)) {
      this.dropped += 1;
      return;
    }
    this.#waiting.push({ about, text });
    this.#sending ??= this.#sendAll();
  }

  /** Until everything that waits is sent, or was given up. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#send(next).catch((error: unknown) => {
        this.dropped += 1;
        // Nobody is left there to read it.
        if (!(error instanceof ApiFailure && error.isNamespaceEnding)) this.#onLost(error);
      });
      if (this.#waiting.length > 0) await new Promise<void>((done) => this.#clock.after(EVENT_LIMITS.gapMs, done));
    }
    this.#sending = null;
  }

  async #send({ about, text }: Waiting): Promise<void> {
    const key = `${about.uid} ${text.reason} ${text.message}`;
    const known = this.#known.get(key);
    const now = this.#clock.now();
    if (known !== undefined && now - known.lastAt < EVENT_LIMITS.sameMs) {
      if (await this.#countAgain(about, key, known, now)) return;
    }
    const name = `${about.name}.${now.toString(16)}${Math.floor(this.#clock.monotonicMs() * 1000).toString(16)}`;
    const body = this.#body(about, text, name, now);
    const { namespace } = about;
    const path = `/api/v1/namespaces/${namespace}/events`;
    await this.#client.send({ method: "POST", path, body, operation: "create events", namespace });
    this.#remember(key, { name, count: 1, firstAt: now, lastAt: now });
  }

  /** False: the Event is not there any more, and is made anew. */
  async #countAgain({ namespace }: Subject, key: string, known: Known, now: number): Promise<boolean> {
    const count = known.count + 1;
    const body = { count, lastTimestamp: formatSecond(now) };
    const path = `/api/v1/namespaces/${namespace}/events/${known.name}`;
    try {
      await this.#client.send({ method: "PATCH", path, body, operation: "patch events", namespace });
    } catch (error) {
      if (!(error instanceof ApiFailure && error.isGone)) throw error;
      this.#known.delete(key);
      return false;
    }
    this.#known.set(key, { ...known, count, lastAt: now });
    return true;
  }

  #body(about: Subject, { type, reason, message }: EventText, name: string, now: number): unknown {
    const { namespace, uid, resourceVersion } = about;
    const at = formatSecond(now);
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace },
      involvedObject: { apiVersion: API_VERSION, kind: KIND, namespace, name: about.name, uid, resourceVersion },
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

export function eventReporter(recorder: EventRecorder): Pick<Reporter, "news" | "trouble"> {
  return {
    news: ({ metadata }, news) => {
      const text = eventOf(news);
      if (text !== null) recorder.record(metadata, text);
    },
    trouble: (subject, error) => {
      const text = refusalEvent(error);
      if (text !== null) recorder.record(subject, text);
    },
  };
}

/** A right that is missing does not pass by itself: it is told where the user looks. Everything else is tried again. */
function refusalEvent(error: unknown): EventText | null {
  if (!(error instanceof ApiFailure) || error.answer.status !== 403) return null;
  const reason = error.operation?.startsWith("get ") ? "FailedGet" : "FailedUpdate";
  return { type: "Warning", reason, message: error.message };
}
