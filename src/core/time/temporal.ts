/**
 * The only file that touches Temporal: the native one where the engine has it, else the polyfill. It answers two
 * questions, what a zone is called and where its offset changes, in plain numbers.
 */
import { Temporal as Polyfill } from "temporal-polyfill";
import { DAY_MS, type EpochMs } from "./instant.js";

type TemporalApi = typeof Polyfill;

const Temporal: TemporalApi = (globalThis as { Temporal?: TemporalApi }).Temporal ?? Polyfill;

/**
 * The polyfill looks for the next change at most three years beyond its argument, or beyond the host's clock where that
 * is later. Asking again every two years keeps the answer independent of any clock (S2).
 */
const STRIDE_MS = 730 * DAY_MS;

interface OffsetChange {
  /** The first instant with the new offset. */
  readonly at: EpochMs;
  readonly offsetMs: number;
}

function zoned(at: EpochMs, zoneId: string): Polyfill.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zoneId);
}

/** The zone's id in its usual capitals, or null when there is no such zone. */
export function canonicalZoneId(id: string): string | null {
  try {
    return zoned(0, id).timeZoneId;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export function offsetMsOf(zoneId: string, at: EpochMs): number {
  return zoned(at, zoneId).offsetNanoseconds / 1_000_000;
}

/** Every change of offset in `(fromAt, untilAt)`, oldest first. */
export function offsetChanges(zoneId: string, fromAt: EpochMs, untilAt: EpochMs): readonly OffsetChange[] {
  const changes: OffsetChange[] = [];
  let cursor = zoned(fromAt, zoneId);
  while (cursor.epochMilliseconds < untilAt) {
    const next = cursor.getTimeZoneTransition("next");
    if (next !== null && next.epochMilliseconds < untilAt) {
      changes.push({ at: next.epochMilliseconds, offsetMs: next.offsetNanoseconds / 1_000_000 });
    }
    cursor = next ?? zoned(cursor.epochMilliseconds + STRIDE_MS, zoneId);
  }
  return changes;
}
