/**
 * After a release the processors belong to what was released: each command takes one of them for a moment before its first
 * instruction. What is only said of it, or left to be done after it, is put off for as long as all of them together need, so
 * that a launcher does not stand in the way of what it has just let go.
 */
import { Fifo } from "../../fifo.js";
import { LAUNCHER_LIMITS } from "./limits.js";

export class Lull {
  readonly #waiting = new Fifo<() => void>();
  #untilMs = 0;
  #timer: NodeJS.Timeout | null = null;

  /** One more was let go. */
  released(): void {
    const nowMs = performance.now();
    const untilMs = Math.max(this.#untilMs, nowMs) + LAUNCHER_LIMITS.startMs;
    this.#untilMs = Math.min(untilMs, nowMs + LAUNCHER_LIMITS.lullMs);
  }

  /** At once while nothing is being started. In the order in which they came. */
  whenOver(act: () => void): void {
    const leftMs = this.#untilMs - performance.now();
    if (leftMs <= 0 && this.#waiting.length === 0) {
      act();
      return;
    }
    this.#waiting.push(act);
    this.#timer ??= setTimeout(() => this.#resume(), leftMs);
  }

  /** In turns, so that a GO is heard in between. */
  #resume(): void {
    const leftMs = this.#untilMs - performance.now();
    if (leftMs <= 0) for (const act of this.#waiting.takeSome(LAUNCHER_LIMITS.resumedPerTurn)) act();
    this.#timer = this.#waiting.length === 0 ? null : setTimeout(() => this.#resume(), leftMs);
  }
}
