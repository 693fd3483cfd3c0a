/**
 * Worker threads with patience: a batch whose worker dies is tried again, each one settles once, and none is waited for
 * for ever. Knows nothing of what the batches are about.
 */
import { fileURLToPath } from "node:url";
import type { Piscina } from "piscina";
import { KronError } from "../../core/errors/kron-error.js";
import type { Answer, TaskName, Tasks } from "./tasks.js";
import type { PoolLimits, PoolStatus } from "./types.js";

/** How often it is looked whether batches wait although no worker is there to take them. */
const WATCH_MS = 200;

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

/** Ends with the first of its signals, or when it runs out. */
class Patience {
  readonly #own = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #signals: readonly AbortSignal[];

  constructor(signals: readonly AbortSignal[], timeoutMs: number) {
    this.#signals = signals;
    this.#timer = setTimeout(() => this.#own.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    for (const signal of signals) signal.addEventListener("abort", this.#stop);
    if (signals.some((signal) => signal.aborted)) this.#stop();
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  get hasRunOut(): boolean {
    return this.#own.signal.aborted && !this.#signals.some((signal) => signal.aborted);
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#stop);
  }

  readonly #stop = (): void => this.#own.abort();
}

export class Threads {
  readonly #options: ThreadOptions;
  #pool: Piscina | null = null;
  #watch: NodeJS.Timeout | null = null;
  readonly #closed = new AbortController();
  #underWay = 0;
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
   * The answer to one batch. Rejects with the reason of `signal`, with the error of the batch itself, or, when one worker
   * after the other died of it, with `worker-died`.
   */
  async run<N extends TaskName>(
    name: N,
    task: Tasks[N]["task"],
    { signal, onRetry, timeoutMs = this.#options.limits.batchTimeoutMs }: RunOptions,
  ): Promise<Tasks[N]["answer"]> {
    const { attempts } = this.#options.limits;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#try(name, task, [signal, this.#closed.signal], timeoutMs);
      signal.throwIfAborted();
      this.#closed.signal.throwIfAborted();
      if ("answer" in outcome) return unpacked(outcome.answer);
      this.#deaths += 1;
      if (attempt >= attempts) throw workerDied(attempts, outcome.cause);
      onRetry?.();
    }
  }

  /** Ends every thread; batches under way reject. */
  async close(): Promise<void> {
    this.#closed.abort(new Error("the decision pool was closed"));
    await this.#discard();
  }

  async #try<N extends TaskName>(
    name: N,
    task: Tasks[N]["task"],
    signals: readonly AbortSignal[],
    timeoutMs: number,
  ): Promise<{ readonly answer: Answer<Tasks[N]["answer"]> } | { readonly cause: unknown }> {
    const patience = new Patience(signals, timeoutMs);
    const answersBefore = this.#answers;
    this.#begin();
    try {
      const pool = await this.#open();
      const answer = (await pool.run(task, { name, signal: patience.signal })) as Answer<Tasks[N]["answer"]>;
      this.#answers += 1;
      return { answer };
    } catch (cause) {
      // No batch gets through: threads that never became ready would be waited for by all of them.
      if (patience.hasRunOut && this.#answers === answersBefore) void this.#discard();
      return { cause: patience.signal.reason ?? cause };
    } finally {
      patience.end();
      this.#end();
    }
  }

  async #open(): Promise<Piscina> {
    const piscina = await import("piscina");
    if (this.#pool !== null) return this.#pool;
    const { threads, entry, limits } = this.#options;
    const filename = entry ?? fileURLToPath(import.meta.resolve("#decision-worker"));
    const pool = new piscina.Piscina({
      filename,
      minThreads: 0,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: limits.idleMs,
      recordTiming: false,
    });
    // A worker that fails without a batch: the batches that wait are looked after by the watch.
    pool.on("error", () => {});
    this.#pool = pool;
    return pool;
  }

  #begin(): void {
    this.#batches += 1;
    this.#underWay += 1;
    this.#watch ??= setInterval(() => this.#rescue(), WATCH_MS);
  }

  #end(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0 || this.#watch === null) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }

  /** A worker that dies while it starts takes none of the batches with it, and nobody starts another for them. */
  #rescue(): void {
    if (this.#pool !== null && this.#pool.queueSize > 0 && this.#pool.threads.length === 0) void this.#discard();
  }

  async #discard(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    await pool?.destroy();
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
