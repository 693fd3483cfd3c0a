/**
 * Spares a server that fails, and everybody who would wait for it. After some failures in a row it is not asked any more for
 * a while, each time for longer; then one session tries it, and only one. By the monotonic clock (S6).
 */
import { BREAKER_LIMITS } from "../limits.js";

export class Breaker {
  #failures = 0;
  /** How often it has opened without a success in between. */
  #opened = 0;
  #openUntilMs: number | null = null;
  #isProbing = false;
  readonly #random: () => number;

  /** `random`: from 0 to 1, for the jitter. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** true: it may be asked, and `succeeded`, `failed` or `leftOff` is owed. */
  mayTry(nowMs: number): boolean {
    if (this.#openUntilMs === null) return true;
    if (this.#isProbing || nowMs < this.#openUntilMs) return false;
    this.#isProbing = true;
    return true;
  }

  /** How long nobody asks; 0: it may be asked. */
  restMs(nowMs: number): number {
    return Math.max(0, (this.#openUntilMs ?? nowMs) - nowMs);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#opened = 0;
    this.#openUntilMs = null;
    this.#isProbing = false;
  }

  /** Nothing was learned about the server. */
  leftOff(): void {
    this.#isProbing = false;
  }

  /**
   * True when it opens with this, for whoever tells people. `atOnce`: no use in asking again; `restMs`: what the server has
   * asked for.
   */
  failed(
    nowMs: number,
    { atOnce = false, restMs = 0 }: { readonly atOnce?: boolean; readonly restMs?: number },
  ): boolean {
    const wasProbe = this.#isProbing;
    this.#isProbing = false;
    this.#failures += 1;
    if (!(atOnce || wasProbe || this.#failures >= BREAKER_LIMITS.failures)) return false;
    const { firstMs, longestMs, jitter } = BREAKER_LIMITS;
    const ownMs = Math.min(firstMs * 2 ** this.#opened, longestMs);
    const waitMs = Math.min(Math.max(ownMs, restMs), longestMs) * (1 + jitter * this.#random());
    this.#opened += 1;
    const isNew = this.#openUntilMs === null;
    this.#openUntilMs = nowMs + waitMs;
    return isNew;
  }
}
