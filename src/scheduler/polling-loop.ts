/**
 * Evaluate, sleep, evaluate: exactly one sleep for each evaluation, and between the end of a sleep and the evaluation
 * nothing but micro-tasks, unless it ended as soon as it began. Neither a failing evaluation nor a failing sleeper ends the
 * loop, and neither keeps the process from everything else; only `stop` ends it.
 */
import { hostSleeper, nextMacrotask } from "./host.js";
import { SCHEDULER_LIMITS } from "./limits.js";
import type { Sleeper } from "./types.js";

interface LoopWork {
  evaluate(): Promise<void>;
  /** Asked right before every sleep. */
  sleepMs(): number;
  /** Read at every use, as everything that is injected. */
  sleeper(): Sleeper;
  faulted(error: unknown, what: string): void;
  /** The sleeper does not sleep: the loop turns as fast as it can. */
  sleepless(): void;
}

export class PollingLoop {
  readonly #work: LoopWork;
  /** For pauses after the injected sleeper failed. */
  readonly #pause = hostSleeper();
  #isStopping = false;
  #endSleep: (() => void) | null = null;
  /** The last sleep was ended by us, not by the sleeper. */
  #wasWoken = false;
  /** Sleeps in a row that the sleeper ended before anything else could happen. */
  #sleepless = 0;
  #done: Promise<void> = Promise.resolve();

  constructor(work: LoopWork) {
    this.#work = work;
  }

  /** The first evaluation comes at least one macrotask later: whoever awaits `initialize` goes first (P3). */
  start(): void {
    this.#done = this.#run();
  }

  /** Ends the sleep under way; without one nothing happens, because the next sleep is computed from what holds then. */
  wake(): void {
    if (this.#endSleep === null) return;
    this.#wasWoken = true;
    try {
      this.#work.sleeper().wake();
    } catch (error) {
      this.#work.faulted(error, "the sleeper could not be woken");
    }
  }

  /** Resolves when the evaluation under way is over. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    this.#endSleep?.();
    this.#pause.wake();
    await this.#done;
  }

  async #run(): Promise<void> {
    await nextMacrotask();
    while (!this.#isStopping) {
      const hasFaulted = await this.#evaluate();
      // Nothing may come between this question and the sleep: a wake-up in between would be lost.
      const ms = hasFaulted ? SCHEDULER_LIMITS.faultPauseMs : this.#sleepMs();
      // Timers and I/O get their turn even if the sleeper has none to offer.
      if (ms <= 0) await nextMacrotask();
      if (!this.#isStopping) await this.#sleepAwhile(ms);
    }
  }

  /** Nothing that ends sleeps at once, a sleeper or a wake-up, may keep timers and I/O from their turn. */
  async #sleepAwhile(ms: number): Promise<void> {
    let hasTurned = false;
    const turn = nextMacrotask().then(() => {
      hasTurned = true;
    });
    this.#wasWoken = false;
    await this.#sleep(ms);
    const hasSlept = hasTurned || this.#wasWoken || ms < SCHEDULER_LIMITS.sleeplessMs;
    this.#sleepless = hasSlept ? 0 : this.#sleepless + 1;
    await turn;
    if (this.#sleepless === SCHEDULER_LIMITS.sleeplessCycles) this.#work.sleepless();
  }

  async #evaluate(): Promise<boolean> {
    try {
      await this.#work.evaluate();
      return false;
    } catch (error) {
      this.#work.faulted(error, "an evaluation failed");
      return true;
    }
  }

  #sleepMs(): number {
    try {
      return this.#work.sleepMs();
    } catch (error) {
      this.#work.faulted(error, "the next wake-up is unknown");
      return SCHEDULER_LIMITS.faultPauseMs;
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#endSleep = null;
        resolve();
      };
      this.#endSleep = end;
      this.#injectedSleep(ms).then(end, (error: unknown) => {
        this.#work.faulted(error, "the sleeper failed");
        void this.#pause.sleep(SCHEDULER_LIMITS.faultPauseMs).then(end);
      });
    });
  }

  async #injectedSleep(ms: number): Promise<void> {
    await this.#work.sleeper().sleep(ms);
  }
}
