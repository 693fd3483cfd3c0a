/**
 * One worker thread: started when there is a batch for it, ended when there has been none for a while. Each has a Piscina
 * of its own: one that may have several threads asks for the next wherever it likes, and when the system refuses it, that
 * ends the process. Asked for a single one it does so only when it is given a batch.
 */
import { fileURLToPath } from "node:url";
import type { Piscina } from "piscina";
import type { Batch, TaskName } from "./tasks.js";

interface ThreadSettings {
  readonly entry: string | undefined;
  readonly idleMs: number;
}

export class Thread {
  /** Batches given to it that have not come to an end. */
  load = 0;
  /** When the system refused it last. */
  refusedAtMs = Number.NEGATIVE_INFINITY;
  readonly #settings: ThreadSettings;
  #life: Life | null = null;
  #answers = 0;

  constructor(settings: ThreadSettings) {
    this.#settings = settings;
  }

  get isThere(): boolean {
    return this.#life !== null && this.#life.pool.threads.length > 0;
  }

  get isStarting(): boolean {
    return this.isThere && this.#life?.isReady === false;
  }

  /** Rejects with what `isRefused` knows when the system gives no thread, and when the thread ends. */
  async run(name: TaskName, batch: Batch<unknown>, signal: AbortSignal, closed: AbortSignal): Promise<unknown> {
    const answersBefore = this.#answers;
    this.load += 1;
    try {
      const life = await this.#open(closed);
      const answer = await life.unlessOver(this.#given(life, name, batch, signal));
      this.#answers += 1;
      return answer;
    } catch (cause) {
      // No batch gets through: a thread that never became ready would be waited for by all of them.
      if (signal.aborted && this.#answers === answersBefore) void this.end();
      throw cause;
    } finally {
      this.load -= 1;
    }
  }

  /** A thread that dies while it starts takes none of the batches with it, and nobody starts another for them. */
  rescue(): void {
    if (this.#life !== null && this.#life.pool.queueSize > 0 && !this.isThere) void this.end();
  }

  async end(): Promise<void> {
    const life = this.#life;
    this.#life = null;
    await life?.pool.destroy();
  }

  async #open(closed: AbortSignal): Promise<Life> {
    const piscina = await import("piscina");
    closed.throwIfAborted();
    if (this.#life !== null) return this.#life;
    const { entry, idleMs } = this.#settings;
    const pool = new piscina.Piscina({
      filename: entry ?? fileURLToPath(import.meta.resolve("#decision-worker")),
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      idleTimeout: idleMs,
      recordTiming: false,
    });
    this.#life = new Life(pool);
    return this.#life;
  }

  /**
   * When the thread is refused, Piscina throws with the batch in its queue already, and tells nobody what becomes of it:
   * were it destroyed then, that would be a rejection that nothing can catch. Without a thread there is nothing to end, so
   * it is left behind as it is, and what else had waited in it is told.
   */
  #given(life: Life, name: TaskName, batch: Batch<unknown>, signal: AbortSignal): Promise<unknown> {
    try {
      return life.pool.run(batch, { name, signal });
    } catch (cause) {
      if (this.#life === life) this.#life = null;
      life.over(cause);
      throw cause;
    }
  }
}

class Life {
  isReady = false;
  readonly #waiting = new Set<(cause: unknown) => void>();
  #end: { readonly cause: unknown } | null = null;

  constructor(readonly pool: Piscina) {
    pool.on("workerCreate", () => {
      this.isReady = true;
    });
    pool.on("workerDestroy", () => {
      this.isReady = false;
    });
    // A thread that fails without a batch: the batches that wait are looked after by `rescue`.
    pool.on("error", () => undefined);
  }

  over(cause: unknown): void {
    this.#end = { cause };
    for (const reject of this.#waiting) reject(cause);
  }

  /** No race with a promise for the end: that would hold on to every answer for as long as the thread lives. */
  unlessOver<T>(answer: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#end !== null) reject(this.#end.cause);
      this.#waiting.add(reject);
      const settled = (): void => void this.#waiting.delete(reject);
      answer.then(resolve, reject).finally(settled);
    });
  }
}

export function isRefused(cause: unknown): cause is Error {
  return cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_INIT_FAILED";
}
