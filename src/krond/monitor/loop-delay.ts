/** How late the event loop gets to what is due, measured below JavaScript: it costs the loop nothing. */
import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

export interface LoopDelay {
  readonly quantile: string;
  readonly seconds: number;
}

export interface LoopDelayProbe {
  /** Since it was read last. */
  read(): readonly LoopDelay[];
  stop(): void;
}

const QUANTILES = [
  ["0.5", 50],
  ["0.99", 99],
  ["1", 100],
] as const;

export function startLoopDelayProbe(): LoopDelayProbe {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    read: () => {
      // What is recorded is the time between two wakes; only what exceeds the interval is delay.
      const delays = QUANTILES.map(([quantile, percentile]) => {
        const betweenSeconds = histogram.percentile(percentile) / NANOSECONDS;
        return { quantile, seconds: Math.max(0, betweenSeconds - RESOLUTION_MS / 1000) };
      });
      histogram.reset();
      return delays;
    },
    stop: () => void histogram.disable(),
  };
}
