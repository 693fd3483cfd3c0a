/**
 * Which occasion a job has next when more than its cron schedule governs it: an interval, hints in force, bounds of its
 * pace (S40, S41). Pure, and asked anew after every change: what is due stays due until it is claimed, whoever asks again.
 *
 * In force are a one-shot hint, else an interval hint, else the cron schedule, else the interval: the first of these that
 * there is decides. Its result is clamped, and only then raised to the present, so that a slot keeps its name.
 */
import type { EpochMs } from "../time/instant.js";

export interface HintsInForce {
  readonly interval: { readonly intervalMs: number; readonly expiresAt: EpochMs } | null;
  readonly oneshot: { readonly nextRunAt: EpochMs; readonly expiresAt: EpochMs } | null;
}

interface OccasionInput {
  /** The interval of a job without a cron schedule; null: it has none. */
  readonly everyMs: number | null;
  readonly minMs: number | null;
  readonly maxMs: number | null;
  /**
   * When the cron schedule is next due, a period that is due already included, and one up to `afterAt` left out; null:
   * never, or there is no such schedule. Asked only when no hint decides.
   */
  readonly cronNextAt: (afterAt: EpochMs) => EpochMs | null;
  /** Those that have expired are passed over. */
  readonly hints: HintsInForce;
  /** Start of the newest run, whatever it came from. */
  readonly lastRunAt: EpochMs | null;
  readonly createdAt: EpochMs | null;
  readonly pausedUntilAt: EpochMs | null;
  readonly now: EpochMs;
}

export type GovernedSource = "cron" | "interval" | "hint-interval" | "hint-oneshot";

export interface NextOccasion {
  /** The promised instant, clamped, before anything raised it to the present: it names the slot (S40). */
  readonly slotAt: EpochMs;
  /** Never before `now`. */
  readonly at: EpochMs;
  readonly source: GovernedSource;
  readonly clamped: "min" | "max" | null;
  /** What it was before; null when it was not clamped. */
  readonly clampedFromAt: EpochMs | null;
}

/** Which bound has moved an occasion, and what it was before. */
export interface Clamp {
  readonly by: "min" | "max";
  readonly fromAt: EpochMs;
}

/** null: there is none, or a pause holds. */
export function nextOccasion(input: OccasionInput): NextOccasion | null {
  const { now } = input;
  if (isHeld(input.pausedUntilAt, now)) return null;
  let notBeforeAt = now;
  for (const { wish, expiresAt } of wishesInForce(input)) {
    const hinted = clamp(wish, input);
    if (Math.max(hinted.slotAt, now) < expiresAt) return { ...hinted, at: Math.max(hinted.slotAt, now) };
    // It would take effect when it is over. Until then it still stands in for the schedule.
    notBeforeAt = Math.max(notBeforeAt, expiresAt);
  }
  const baseline = baselineWish(input);
  if (baseline === null) return null;
  const next = clamp(baseline, input);
  return { ...next, at: Math.max(next.slotAt, notBeforeAt) };
}

/** A pause ends at its instant, strictly. */
export function isHeld(pausedUntilAt: EpochMs | null, now: EpochMs): boolean {
  return pausedUntilAt !== null && pausedUntilAt > now;
}

/** What one rule asks for, and what its bounds are measured from; null: no bounds hold. */
interface Wish {
  readonly at: EpochMs;
  readonly source: GovernedSource;
  readonly paceFromAt: EpochMs | null;
}

function wishesInForce(input: OccasionInput): readonly { readonly wish: Wish; readonly expiresAt: EpochMs }[] {
  const { hints, lastRunAt, now } = input;
  const { oneshot, interval } = hints;
  return [
    ...(oneshot === null || oneshot.expiresAt <= now
      ? []
      : [{ wish: wishFor(oneshot.nextRunAt, "hint-oneshot", lastRunAt), expiresAt: oneshot.expiresAt }]),
    ...(interval === null || interval.expiresAt <= now
      ? []
      : [{ wish: intervalWish(interval.intervalMs, "hint-interval", input), expiresAt: interval.expiresAt }]),
  ];
}

function baselineWish(input: OccasionInput): Wish | null {
  const { everyMs, lastRunAt } = input;
  const cronAt = input.cronNextAt(baseOf(input));
  if (cronAt !== null) return wishFor(cronAt, "cron", lastRunAt);
  return everyMs === null ? null : intervalWish(everyMs, "interval", input);
}

function wishFor(at: EpochMs, source: GovernedSource, paceFromAt: EpochMs | null): Wish {
  return { at, source, paceFromAt };
}

function intervalWish(intervalMs: number, source: GovernedSource, input: OccasionInput): Wish {
  const fromAt = baseOf(input);
  return wishFor(fromAt + intervalMs, source, fromAt);
}

function baseOf({ lastRunAt, createdAt, now }: OccasionInput): EpochMs {
  return lastRunAt ?? createdAt ?? now;
}

/** Where stored bounds contradict each other, the lower one wins. */
function clamp({ at, source, paceFromAt }: Wish, { minMs, maxMs }: OccasionInput): Omit<NextOccasion, "at"> {
  if (paceFromAt === null) return { slotAt: at, source, clamped: null, clampedFromAt: null };
  const latestAt = maxMs === null ? at : Math.min(at, paceFromAt + maxMs);
  const slotAt = minMs === null ? latestAt : Math.max(latestAt, paceFromAt + minMs);
  const clamped = slotAt > latestAt ? "min" : latestAt < at ? "max" : null;
  return { slotAt, source, clamped, clampedFromAt: clamped === null ? null : at };
}
