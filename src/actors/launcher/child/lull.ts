/**
 * After a release the processors belong to what was released: each command takes one of them for a moment before its first
 * instruction. What is heard of them meanwhile is put off for as long as all of them together need, so that a launcher, and
 * the daemon that it would tell, do not stand in the way of what was just let go.
 */
import { Fifo } from "../../fifo.js";
import { LAUNCHER_LIMITS } from "./limits.js";

export class Lull {
  readonly #waiting = new Fifo<() => void>();
  /** Of those that wait, so many have waited long enough: they are done, whatever is released meanwhile. */
  #dueCount = 0;
  #sinceMs = 0;
  #untilMs = 0;
  #isEnded = false;
  #timer: NodeJS.Timeout | null = null;

  /** One more was let go. */
  released(): void {
    const nowMs = performance.now();
    if (nowMs >= this.#untilMs) {
      this.#sinceMs = nowMs;
      this.#untilMs = nowMs;
    }
    this.#untilMs = Math.min(this.#untilMs + LAUNCHER_LIMITS.startMs, this.#sinceMs + LAUNCHER_LIMITS.lullMs);
  }

  /** At once while nothing is being started. In the order in which they came. */
  whenOver(act: () => void): void {
    if (this.#waiting.length === 0 && this.#leftMs() === 0) {
      act();
      return;
    }
    this.#waiting.push(act);
    this.#timer ??= setTimeout(() => this.#resume(), this.#leftMs());
  }

  /** Nothing waits any more, now or later. */
  end(): void {
    this.#isEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const act of this.#waiting.takeSome(this.#waiting.length)) act();
  }

  #leftMs(): number {
    return this.#isEnded ? 0 : Math.max(this.#untilMs - performance.now(), 0);
  }

  /** In turns, so that a GO is heard in between. */
  #resume(): void {
    if (this.#dueCount === 0 && this.#leftMs() === 0) this.#dueCount = this.#waiting.length;
    const acts = this.#waiting.takeSome(Math.min(this.#dueCount, LAUNCHER_LIMITS.resumedPerTurn));
    this.#dueCount -= acts.length;
    for (const act of acts) act();
    const waitMs = this.#dueCount > 0 ? 0 : this.#leftMs();
    this.#timer = this.#waiting.length === 0 ? null : setTimeout(() => this.#resume(), waitMs);
  }
}
