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
import { fileURLToPath } from "node:url";
import type { Piscina } from "piscina";
import { KronError } from "../../core/errors/kron-error.js";
import { newStopFlag, raise, type StopFlag } from "./stop-flag.js";
import type { Answer, Batch, TaskName, Tasks } from "./tasks.js";
import type { PoolLimits, PoolStatus } from "./types.js";

/** How often it is looked whether batches wait although no worker is there to take them. */
const WATCH_MS = 200;
/** How long a thread may take from the flag to the end of its batch before it is ended. */
const STOP_GRACE_MS = 1_000;
/** How long closing waits for threads that are still starting. */
const START_GRACE_MS = 2_000;
const CLOSE_POLL_MS = 5;

export interface ThreadOptions {
  readonly threads: number;
  readonly entry: string | undefined;
  readonly limits: Pick<PoolLimits, "attempts" | "batchTimeoutMs" | "idleMs">;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  /** Called before a batch is tried again. */
  readonly onRetry?: () => void;
  readonly timeoutMs?: number;
}

type Outcome<T> = { readonly answer: Answer<T> } | { readonly cause: unknown };

export class Threads {
  readonly #options: ThreadOptions;
  #pool: Piscina | null = null;
  /** Those that have started. */
  readonly #ready = new Set<unknown>();
  #watch: NodeJS.Timeout | null = null;
  readonly #closed = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #deaths = 0;
  #batches = 0;
  #answers = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  get status(): PoolStatus {
    return { threads: this.#pool?.threads.length ?? 0, batches: this.#batches, deaths: this.#deaths };
  }

  /**
   * The answer to one batch. Rejects at once with the reason of `signal`, with the error of the batch itself, or, when one
   * worker after the other died of it, with `worker-died`.
   */
  async run<N extends TaskName>(
    name: N,
    task: Tasks[N]["task"],
    { signal, onRetry, timeoutMs = this.#options.limits.batchTimeoutMs }: RunOptions,
  ): Promise<Tasks[N]["answer"]> {
    const { attempts } = this.#options.limits;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#unlessStopped(() => this.#try(name, task, timeoutMs), signal);
      if ("answer" in outcome) return unpacked(outcome.answer);
      this.#deaths += 1;
      if (attempt >= attempts) throw workerDied(attempts, outcome.cause);
      onRetry?.();
    }
  }

  /** Ends every thread; batches under way reject at once. */
  async close(): Promise<void> {
    this.#closed.abort(new Error("the decision pool was closed"));
    await Promise.all(this.#underWay);
    await this.#started();
    await this.#discard();
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

  #try<N extends TaskName>(name: N, task: Tasks[N]["task"], timeoutMs: number): Trial<Outcome<Tasks[N]["answer"]>> {
    const patience = new Patience(timeoutMs);
    const outcome = this.#attempt(name, { task, stop: patience.flag }, patience);
    this.#begin(outcome);
    return { outcome, stop: () => patience.stop() };
  }

  /** Never rejects. */
  async #attempt<N extends TaskName>(
    name: N,
    batch: Batch<Tasks[N]["task"]>,
    patience: Patience,
  ): Promise<Outcome<Tasks[N]["answer"]>> {
    const answersBefore = this.#answers;
    try {
      const pool = await this.#open();
      const answer = await pool.run(batch, { name, signal: patience.signal });
      this.#answers += 1;
      return { answer: answer as Answer<Tasks[N]["answer"]> };
    } catch (cause) {
      // No batch gets through: threads that never became ready would be waited for by all of them.
      if (patience.signal.aborted && this.#answers === answersBefore) void this.#discard();
      return { cause: patience.signal.reason ?? cause };
    } finally {
      patience.end();
    }
  }

  async #open(): Promise<Piscina> {
    const piscina = await import("piscina");
    this.#closed.signal.throwIfAborted();
    if (this.#pool !== null) return this.#pool;
    const { threads, entry, limits } = this.#options;
    const pool = new piscina.Piscina({
      filename: entry ?? fileURLToPath(import.meta.resolve("#decision-worker")),
      minThreads: 0,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: limits.idleMs,
      recordTiming: false,
    });
    pool.on("workerCreate", (worker) => this.#ready.add(worker));
    pool.on("workerDestroy", (worker) => this.#ready.delete(worker));
    // A worker that fails without a batch: the batches that wait are looked after by the watch.
    pool.on("error", () => {});
    this.#pool = pool;
    return pool;
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

  /** A worker that dies while it starts takes none of the batches with it, and nobody starts another for them. */
  #rescue(): void {
    if (this.#pool !== null && this.#pool.queueSize > 0 && this.#pool.threads.length === 0) void this.#discard();
  }

  /** Until no thread is starting, within reason. */
  async #started(): Promise<void> {
    for (let waitedMs = 0; waitedMs < START_GRACE_MS; waitedMs += CLOSE_POLL_MS) {
      if ((this.#pool?.threads.length ?? 0) <= this.#ready.size) return;
      await delay(CLOSE_POLL_MS);
    }
  }

  async #discard(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    this.#ready.clear();
    await pool?.destroy();
  }
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
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `a batch was tried ${attempts} times and its worker ended each time: ${why}`;
  return new KronError("worker-died", message, { component: "planner", operation: "batch", cause });
}
