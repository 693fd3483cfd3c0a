/** How late the event loop gets to what is due, measured below JavaScript: it costs the loop nothing. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Observed } from "./metric-registry.js";

const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

export interface LoopDelayProbe {
  /** Since it was read last. */
  read(): Observed;
  stop(): void;
}

const QUANTILES = [
  ["0.5", 50],
  ["0.99", 99],
  ["1", 100],
] as const;

/** What is recorded is the time between two wakes; only what exceeds the interval is delay. */
function delaySeconds(betweenNanoseconds: number): number {
  return Math.max(0, betweenNanoseconds / NANOSECONDS - RESOLUTION_MS / 1000);
}

export function startLoopDelayProbe(): LoopDelayProbe {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    read: () => {
      const { count } = histogram;
      const quantiles = QUANTILES.map(([quantile, percentile]) => {
        return { quantile, value: delaySeconds(histogram.percentile(percentile)) };
      });
      // Without a wake there is no mean.
      const sum = count === 0 ? 0 : count * delaySeconds(histogram.mean);
      histogram.reset();
      return { quantiles, count, sum };
    },
    stop: () => void histogram.disable(),
  };
}
