/**
 * Periods that could not be started (S24), judged as records become durable: what was tried was evaluated, so it is none of
 * those that nobody looked at, and where it is missed it is missed for what stood in its way.
 */
import { type EpochMs, formatInstant } from "../core/time/instant.js";
import type { ReadRecord } from "./records.js";

/** What is on record of a job: the period that is tried, and for what it was refused. */
export interface TriedPeriod {
  readonly at: EpochMs;
  readonly reason: string;
}

interface TriedVerdict {
  readonly tried: TriedPeriod | null;
  /** null: all is well. */
  readonly violation: string | null;
}

/** The last start of it took too long: nothing stood in its way any more. */
const TOO_SLOW = "late_start";

export function judgeTried(tried: TriedPeriod | null, at: EpochMs, record: ReadRecord): TriedVerdict {
  switch (record.kind) {
    case "start_failed":
      return { tried: record.source === "cron" ? { at, reason: record.reason } : tried, violation: null };
    case "defined":
      return { tried: null, violation: null };
    case "run":
      // A run that begins ends the telling, whatever it came from.
      return { tried: record.ending === null ? null : tried, violation: null };
    case "gap": {
      const isPassed = tried !== null && record.firstAt <= tried.at && tried.at <= record.lastAt;
      const violation = isPassed ? `was tried at ${formatInstant(tried.at)}, and told as one nobody looked at` : null;
      return { tried: isPassed ? null : tried, violation };
    }
    case "period": {
      if (tried === null || tried.at !== at) return { tried, violation: null };
      const isTrue = record.outcome !== "missed" || record.reason === tried.reason || record.reason === TOO_SLOW;
      return { tried: null, violation: isTrue ? null : `was ${tried.reason}, and missed for ${record.reason}` };
    }
    default:
      return { tried, violation: null };
  }
}
