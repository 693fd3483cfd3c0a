/**
 * Worker threads with patience: a batch whose worker dies is tried again, each one settles once, and none is waited for
 * for ever. Knows nothing of what the batches are about.
 *
 * A thread that is ended from outside while it starts, or while it runs native code, can take the whole process with it.
 * So batches that are not wanted any more are told to stop by a flag that they share with us, their answers are dropped,
 * and only a thread that does not heed the flag is ended.
 */

import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { KronError } from "../../core/base/errors/kron-error.js";
import { messageOf } from "../../core/base/errors/message.js";
import { newStopFlag, raise, type StopFlag } from "./thread/stop-flag.js";
import type { Answer, Batch, TaskName, Tasks } from "./thread/tasks.js";
import { isRefused, Thread } from "./thread/thread.js";
import type { PoolLimits, PoolStatus } from "./types.js";

/** How often it is looked whether batches wait although no worker is there to take them. */
const WATCH_MS = 200;
/** How long a thread may take from the flag to the end of its batch before it is ended. */
const STOP_GRACE_MS = 1_000;
/** How long closing waits for threads that are still starting. */
const START_GRACE_MS = 2_000;
const CLOSE_POLL_MS = 5;
/** How long the system is not asked for a thread again after it has refused one. */
const REFUSED_MS = 1_000;
/** How often that is told, however long it lasts. */
const TOLD_EVERY_MS = 60_000;

interface ThreadOptions {
  readonly threads: number;
  readonly entry: string | undefined;
  readonly limits: Pick<PoolLimits, "attempts" | "batchTimeoutMs" | "idleMs">;
  /** Told now and then, while the system gives fewer threads than are wanted. */
  readonly onRefused?: ((error: KronError) => void) | undefined;
}

interface RunOptions {
  readonly signal: AbortSignal;
  /** Called before a batch is tried again. */
  readonly onRetry?: () => void;
  readonly timeoutMs?: number;
}

type Outcome<T> = { readonly answer: Answer<T> } | { readonly cause: unknown };

export class Threads {
  readonly #options: ThreadOptions;
  readonly #threads: readonly Thread[];
  #watch: NodeJS.Timeout | null = null;
  readonly #closed = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #deaths = 0;
  #batches = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ThreadOptions) {
    const { threads, entry, limits } = options;
    this.#options = options;
    this.#threads = Array.from({ length: threads }, () => new Thread({ entry, idleMs: limits.idleMs }));
  }

  get status(): PoolStatus {
    const threads = this.#threads.filter((thread) => thread.isThere).length;
    return { threads, batches: this.#batches, deaths: this.#deaths };
  }

  /**
   * The answer to one batch. Rejects at once with the reason of `signal`, with the error of the batch itself, with
   * `worker-unavailable` when the system gives no thread at all, or, when one worker after the other died of it, with
   * `worker-died`.
   */
  async run<N extends TaskName>(
    name: N,
    task: Tasks[N]["task"],
    { signal, onRetry, timeoutMs = this.#options.limits.batchTimeoutMs }: RunOptions,
  ): Promise<Tasks[N]["answer"]> {
    const { attempts } = this.#options.limits;
    for (let deaths = 0; ; ) {
      const thread = this.#leastBusy();
      const outcome = await this.#unlessStopped(() => this.#try(thread, name, task, timeoutMs), signal);
      if ("answer" in outcome) return unpacked(outcome.answer);
      if (isRefused(outcome.cause)) {
        this.#refused(thread, outcome.cause);
        continue;
      }
      this.#deaths += 1;
      deaths += 1;
      if (deaths >= attempts) throw workerDied(attempts, outcome.cause);
      onRetry?.();
    }
  }

  /** Ends every thread; batches under way reject at once. */
  async close(): Promise<void> {
    this.#closed.abort(new Error("the decision pool was closed"));
    await Promise.all(this.#underWay);
    await this.#started();
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  /** One that is there rather than one that is to be started; none that was refused a moment ago. */
  #leastBusy(): Thread {
    const latestMs = performance.now() - REFUSED_MS;
    const able = this.#threads.filter((thread) => thread.isThere || thread.refusedAtMs <= latestMs);
    const [first, ...others] = able;
    if (first === undefined) throw this.#refusal("it refused one a moment ago");
    return others.reduce((best, thread) => (weightOf(thread) < weightOf(best) ? thread : best), first);
  }

  #refused(thread: Thread, cause: Error): void {
    const nowMs = performance.now();
    thread.refusedAtMs = nowMs;
    if (nowMs - this.#toldAtMs < TOLD_EVERY_MS) return;
    this.#toldAtMs = nowMs;
    this.#options.onRefused?.(this.#refusal(cause.message));
  }

  #refusal(why: string): KronError {
    const further = this.status.threads > 0 ? "further " : "";
    const hint = "look at what limits processes and threads: 'ulimit -u', and pids.max of the control group";
    const details = { component: "planner", operation: "batch", hint } as const;
    return new KronError("worker-unavailable", `the system gives no ${further}thread: ${why}`, details);
  }

  async #unlessStopped<T>(begin: () => Trial<T>, signal: AbortSignal): Promise<T> {
    const signals = [signal, this.#closed.signal];
    for (const it of signals) it.throwIfAborted();
    // Each batch under way listens: that is no leak.
    setMaxListeners(0, ...signals);
    const trial = begin();
    return new Promise((resolve, reject) => {
      const onAbort = (event: Event): void => {
        trial.stop();
        reject((event.target as AbortSignal).reason);
      };
      for (const it of signals) it.addEventListener("abort", onAbort);
      void trial.outcome.then((outcome) => {
        for (const it of signals) it.removeEventListener("abort", onAbort);
        resolve(outcome);
      });
    });
  }

  #try<N extends TaskName>(
    thread: Thread,
    name: N,
    task: Tasks[N]["task"],
    timeoutMs: number,
  ): Trial<Outcome<Tasks[N]["answer"]>> {
    const patience = new Patience(timeoutMs);
    const outcome = this.#attempt<N>(thread, name, { task, stop: patience.flag }, patience);
    this.#begin(outcome);
    return { outcome, stop: () => patience.stop() };
  }

  /** Never rejects. */
  async #attempt<N extends TaskName>(
    thread: Thread,
    name: N,
    batch: Batch<Tasks[N]["task"]>,
    patience: Patience,
  ): Promise<Outcome<Tasks[N]["answer"]>> {
    try {
      const answer = await thread.run(name, batch, patience.signal, this.#closed.signal);
      return { answer: answer as Answer<Tasks[N]["answer"]> };
    } catch (cause) {
      return { cause: patience.signal.reason ?? cause };
    } finally {
      patience.end();
    }
  }

  #begin(outcome: Promise<unknown>): void {
    this.#batches += 1;
    this.#underWay.add(outcome);
    this.#watch ??= setInterval(() => this.#rescue(), WATCH_MS);
    void outcome.then(() => {
      this.#underWay.delete(outcome);
      if (this.#underWay.size > 0 || this.#watch === null) return;
      clearInterval(this.#watch);
      this.#watch = null;
    });
  }

  #rescue(): void {
    for (const thread of this.#threads) thread.rescue();
  }

  /** Until no thread is starting, within reason. */
  async #started(): Promise<void> {
    for (let waitedMs = 0; waitedMs < START_GRACE_MS; waitedMs += CLOSE_POLL_MS) {
      if (!this.#threads.some((thread) => thread.isStarting)) return;
      await delay(CLOSE_POLL_MS);
    }
  }
}

/** A batch is a batch, wherever it waits; of two threads with as many the one that is there comes first. */
function weightOf({ load, isThere }: Thread): number {
  return load + (isThere ? 0 : 0.5);
}

interface Trial<T> {
  /** Never rejects. */
  readonly outcome: Promise<T>;
  /** Its outcome is not wanted any more. */
  stop(): void;
}

/** How long a batch may take, and what is done when it takes longer. */
class Patience {
  readonly flag: StopFlag = newStopFlag();
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    this.#timer = this.#endAfter(timeoutMs);
  }

  /** Ends the thread. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  stop(): void {
    raise(this.flag);
    clearTimeout(this.#timer);
    this.#timer = this.#endAfter(STOP_GRACE_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #endAfter(timeoutMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#end.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  }
}

function unpacked<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new KronError(answer.code, answer.message, { component: "planner", operation: "batch" });
}

function workerDied(attempts: number, cause: unknown): KronError {
  const why = messageOf(cause);
  const message = `a batch was tried ${attempts} times and its worker ended each time: ${why}`;
  return new KronError("worker-died", message, { component: "planner", operation: "batch", cause });
}
