/**
 * How often something may be asked: a bucket that fills evenly, kept as the one instant at which it is full again (GCRA).
 */
import type { Rate } from "../../operations/keys/record.js";

interface Taken {
  readonly isAllowed: boolean;
  /** How many more may come at once. */
  readonly remaining: number;
  /** Until what was asked for is allowed. */
  readonly retryAfterMs: number;
  /** Until as many are allowed as ever. */
  readonly fullInMs: number;
}

/** Pure: what `fullAt` becomes when so many more come. */
function takeSome(
  fullAt: number,
  { perSecond, burst }: Rate,
  nowMs: number,
  count: number,
): Taken & { readonly fullAt: number } {
  const everyMs = 1_000 / perSecond;
  const before = Math.max(fullAt, nowMs);
  const after = before + count * everyMs;
  const overMs = after - nowMs - burst * everyMs;
  // Sums of fractions are a little off.
  const isAllowed = overMs <= everyMs * 1e-6;
  const standing = isAllowed ? after : before;
  const remaining = Math.max(0, Math.floor((burst * everyMs - (standing - nowMs)) / everyMs + 1e-6));
  return { isAllowed, remaining, retryAfterMs: isAllowed ? 0 : overMs, fullInMs: standing - nowMs, fullAt: standing };
}

export class RateBook {
  readonly #fullAt = new Map<string, number>();
  readonly #most: number;

  /** `most`: names that are remembered; of more than that the oldest are forgotten. */
  constructor(most: number) {
    this.#most = most;
  }

  take(name: string, rate: Rate, nowMs: number, count = 1): Taken {
    const taken = takeSome(this.#fullAt.get(name) ?? 0, rate, nowMs, count);
    this.#fullAt.delete(name);
    this.#fullAt.set(name, taken.fullAt);
    if (this.#fullAt.size > this.#most) this.#forgetOldest();
    return taken;
  }

  #forgetOldest(): void {
    for (const name of this.#fullAt.keys()) {
      this.#fullAt.delete(name);
      return;
    }
  }
}
