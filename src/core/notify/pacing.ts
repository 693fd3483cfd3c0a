/** When the next message to one place may go, and whether it is one or all that wait, in one. */
import { type EpochMs, MINUTE_MS, SECOND_MS } from "../time/instant.js";

const FIRST_RETRY_MS = SECOND_MS;
const LONGEST_RETRY_MS = 5 * MINUTE_MS;

export type Pace =
  | { readonly kind: "wait"; readonly untilAt: EpochMs }
  | { readonly kind: "one" }
  /** No more would fit into this minute: what waits becomes one message. */
  | { readonly kind: "group" };

/** `sentAt`: when the last ones went, oldest first. */
export function paceOf(waiting: number, sentAt: readonly EpochMs[], perMinute: number, now: EpochMs): Pace {
  // A clock that went back must not silence anybody.
  const recent = sentAt.filter((at) => at > now - MINUTE_MS && at <= now);
  const left = perMinute - recent.length;
  if (left <= 0) return { kind: "wait", untilAt: (recent[0] ?? now) + MINUTE_MS };
  return waiting > left ? (left === 1 ? { kind: "group" } : { kind: "one" }) : { kind: "one" };
}

/** Doubles, to a bound. */
export function retryAfterMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20));
}
