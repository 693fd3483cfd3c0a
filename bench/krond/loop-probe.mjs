/**
 * Preloaded into a measured process: records from the very first line on how late its event loop is, below JavaScript, and
 * writes it down when asked by SIGUSR2, and begins anew; where the collector is at hand, it collects garbage first. What counts as delay is
 * what exceeds the interval of the recording.
 */
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 5;
const file = process.env.BENCH_LOOP_FILE;
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();

function delayMs(nanoseconds) {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}

process.on("SIGUSR2", () => {
  const delays = { p99: delayMs(histogram.percentile(99)), max: delayMs(histogram.max) };
  for (let i = 0; i < 3; i += 1) globalThis.gc?.();
  // What collecting takes is nobody's delay.
  setImmediate(() => histogram.reset());
  writeFileSync(`${file}.new`, JSON.stringify(delays));
  renameSync(`${file}.new`, file);
});
