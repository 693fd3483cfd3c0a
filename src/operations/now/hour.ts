/** What became of the periods and runs of the last hour, minute by minute: numbers, whatever happens. */
import { MINUTE_MS } from "../../core/time/instant.js";
import type { OutcomeCounts } from "../shapes/now.js";

const MINUTES = 60;

type Counts = { -readonly [Outcome in keyof OutcomeCounts]: number };

interface Minute {
  readonly minute: number;
  readonly counts: Counts;
}

export class HourOfOutcomes {
  readonly #minutes = new Map<number, Minute>();

  note(at: number, outcome: keyof OutcomeCounts): void {
    const minute = Math.floor(at / MINUTE_MS);
    const place = minute % MINUTES;
    const known = this.#minutes.get(place);
    const counted = known?.minute === minute ? known : { minute, counts: none() };
    counted.counts[outcome] += 1;
    this.#minutes.set(place, counted);
  }

  read(now: number): OutcomeCounts {
    const current = Math.floor(now / MINUTE_MS);
    const sum = none();
    for (const { minute, counts } of this.#minutes.values()) {
      // What is newer was counted before the clock was set back.
      if (minute <= current - MINUTES || minute > current) continue;
      for (const outcome of Object.keys(sum) as (keyof Counts)[]) sum[outcome] += counts[outcome];
    }
    return sum;
  }
}

function none(): Counts {
  return { executed: 0, failed: 0, missed: 0, skipped: 0, unschedulable: 0 };
}
