/**
 * One kind of object, kept up with: a list and everything that changes after it. The list is streamed where the server
 * can do that, and paged where it cannot; a watch that is too old begins again with a list, which is the normal case
 * after a restart of the API server.
 */
import type { Clock } from "../../actors/clock.js";
import { OPERATOR_LIMITS, OPERATOR_TIMES } from "../limits.js";
import type { KubeClient } from "./client.js";
import { ApiFailure, answerOf } from "./failure.js";
import type { KubeObject } from "./types.js";

export interface WatchHandler<T extends KubeObject> {
  /** A full list begins: what is not put before its end is gone. */
  begin(): void;
  put(object: T): void;
  /** With the last that was known of it. */
  gone(object: T): void;
  end(): void;
  /** Something went wrong; it is tried again. */
  trouble(error: unknown, restart: "relist" | "resume"): void;
}

interface WatchTarget {
  /** `/apis/batch/v1/jobs` */
  readonly path: string;
  readonly resource: string;
  readonly labelSelector?: string;
}

interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject & { readonly code?: number; readonly reason?: string; readonly message?: string };
}

interface ListPage<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

/** What a watch asks of a client. */
export type WatchClient = Pick<KubeClient, "send" | "stream">;

const INITIAL_END = "k8s.io/initial-events-end";
const WATCH_SECONDS = { least: 300, most: 600 } as const;

export class Watch<T extends KubeObject> {
  readonly #client: WatchClient;
  readonly #target: WatchTarget;
  readonly #handler: WatchHandler<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #stop = new AbortController();
  #version: string | null = null;
  #canStream = true;
  #isListing = false;
  /** Rounds in a row that ended before they were any use. */
  #failures = 0;
  #followedAtMs = Number.POSITIVE_INFINITY;
  #refusedSinceMs: number | null = null;
  /** Of the last successful word; null: nothing has worked yet. */
  lastContactMs: number | null = null;

  constructor(client: WatchClient, target: WatchTarget, handler: WatchHandler<T>, clock: Clock, random: () => number) {
    this.#client = client;
    this.#target = target;
    this.#handler = handler;
    this.#clock = clock;
    this.#random = random;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Until it is stopped. Rejects only with what the first list goes on being refused with: a missing right, a missing CRD. */
  async run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#followedAtMs = Number.POSITIVE_INFINITY;
      let trouble: unknown = null;
      try {
        await this.#once();
      } catch (error) {
        if (!this.#stop.signal.aborted && this.#isRefusedForGood(error)) throw error;
        trouble = error;
      }
      if (this.#stop.signal.aborted) return;
      await this.#pause(trouble);
    }
  }

  /** An API server that has only just begun knows neither accounts nor rights nor CRDs, and refuses what it soon grants. */
  #isRefusedForGood(error: unknown): boolean {
    if (this.lastContactMs !== null || !isHopeless(error)) {
      this.#refusedSinceMs = null;
      return false;
    }
    const nowMs = this.#clock.monotonicMs();
    this.#refusedSinceMs ??= nowMs;
    return nowMs - this.#refusedSinceMs >= OPERATOR_TIMES.refusedMs;
  }

  async #once(): Promise<void> {
    if (this.#version !== null) return this.#follow({ resourceVersion: this.#version });
    if (this.#canStream) return this.#streamList();
    await this.#pageList();
    return this.#follow({ resourceVersion: this.#version ?? "0" });
  }

  async #streamList(): Promise<void> {
    try {
      await this.#follow({ sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" });
    } catch (error) {
      const isUnknown = error instanceof ApiFailure && (error.answer.status === 400 || error.answer.status === 422);
      if (!isUnknown) throw error;
      this.#canStream = false;
      await this.#once();
    }
  }

  /** Complete with its last page, and not before: what broke off in between is begun again. */
  async #pageList(): Promise<void> {
    let next: string | undefined;
    let version: string;
    this.#handler.begin();
    do {
      const page: ListPage<T> = await this.#client.send<ListPage<T>>({
        method: "GET",
        path: this.#target.path,
        query: {
          limit: OPERATOR_LIMITS.pageItems,
          ...(next === undefined ? {} : { continue: next }),
          ...this.#selector(),
        },
        operation: `list ${this.#target.resource}`,
      });
      for (const item of page.items) this.#handler.put(item);
      version = page.metadata.resourceVersion;
      next = page.metadata.continue === "" ? undefined : page.metadata.continue;
    } while (next !== undefined);
    this.#version = version;
    this.#contacted();
    this.#handler.end();
  }

  async #follow(from: Readonly<Record<string, string | boolean>>): Promise<void> {
    const { least, most } = WATCH_SECONDS;
    this.#isListing = false;
    const isInitial = from["sendInitialEvents"] === true;
    this.#followedAtMs = this.#clock.monotonicMs();
    await this.#client.stream(
      {
        method: "GET",
        path: this.#target.path,
        query: {
          watch: 1,
          allowWatchBookmarks: true,
          timeoutSeconds: Math.floor(least + this.#random() * (most - least)),
          ...from,
          ...this.#selector(),
        },
        operation: `watch ${this.#target.resource}`,
      },
      this.#stop.signal,
      (line) => {
        if (isInitial && !this.#isListing && this.#version === null) {
          this.#isListing = true;
          this.#handler.begin();
        }
        this.#take(JSON.parse(line) as WatchEvent);
      },
    );
  }

  #take({ type, object }: WatchEvent): void {
    if (type === "ERROR") {
      const { code = 500, reason = "", message = "" } = object;
      throw new ApiFailure(answerOf(code, { reason, message }, undefined), `watch ${this.#target.resource}`);
    }
    this.#contacted();
    if (type === "DELETED") this.#handler.gone(object as unknown as T);
    else if (type !== "BOOKMARK") this.#handler.put(object as unknown as T);
    if (this.#isListing) {
      // Until the list is complete there is no version to go on from.
      if (type !== "BOOKMARK" || object.metadata.annotations?.[INITIAL_END] !== "true") return;
      this.#isListing = false;
      this.#version = object.metadata.resourceVersion;
      this.#handler.end();
      return;
    }
    this.#version = object.metadata.resourceVersion;
  }

  #contacted(): void {
    this.lastContactMs = this.#clock.monotonicMs();
  }

  /**
   * Before the next round: nothing after a watch that was of use, else longer each time, whatever ended it. A server that
   * ends every watch at once, or finds every version too old, is not asked thousands of times a second.
   */
  async #pause(error: unknown): Promise<void> {
    const isOfUse = this.#clock.monotonicMs() - this.#followedAtMs >= OPERATOR_TIMES.watchHealthyMs;
    if (isOfUse) this.#failures = 0;
    if (error === null && isOfUse) return;
    if (error !== null && !canResume(error)) this.#version = null;
    const cause = error ?? new Error(`the watch of ${this.#target.resource} ended at once`);
    this.#handler.trouble(cause, this.#version === null ? "relist" : "resume");
    const { retryFirstMs, retryLongestMs, retryWishMs } = OPERATOR_TIMES;
    const wishMs = error instanceof ApiFailure ? Math.min(error.answer.retryAfterMs ?? 0, retryWishMs) : 0;
    const delayMs = Math.min(retryFirstMs * 2 ** Math.min(this.#failures, 16), retryLongestMs);
    this.#failures += 1;
    await this.#sleep(Math.max(wishMs, delayMs * (0.5 + this.#random() / 2)));
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((done) => {
      const { signal } = this.#stop;
      const finish = (): void => {
        timer.cancel();
        signal.removeEventListener("abort", finish);
        done();
      };
      const timer = this.#clock.after(ms, finish);
      signal.addEventListener("abort", finish);
    });
  }

  #selector(): Readonly<Record<string, string>> {
    const { labelSelector } = this.#target;
    return labelSelector === undefined ? {} : { labelSelector };
  }
}

/** From the version that was seen last. After anything but an answer of the server nobody knows what was taken in. */
function canResume(error: unknown): boolean {
  return error instanceof ApiFailure && !error.isExpired;
}

const HOPELESS: readonly number[] = [401, 403, 404];

/** A right that is missing, or a kind that does not exist: waiting does not help. */
function isHopeless(error: unknown): boolean {
  return error instanceof ApiFailure && HOPELESS.includes(error.answer.status);
}
