/** The text form of Prometheus, as far as these benchmarks ask for it. */

/** Every sample by its name and labels as they are written: `kron_jobs`, `kron_periods_total{outcome="executed",...}`. */
export function parseMetrics(text) {
  const samples = new Map();
  for (const line of text.split("\n")) {
    const match = /^([a-z_:][\w:]*(?:\{.*\})?) (\S+)$/i.exec(line);
    if (match !== null) samples.set(match[1], Number(match[2]));
  }
  return samples;
}

/** In milliseconds; `quantile` is one of those that krond gives: 0.5, 0.99, 1. */
export function loopDelayMs(samples, quantile) {
  return (samples.get(`kron_event_loop_delay_seconds{quantile="${quantile}"}`) ?? Number.NaN) * 1000;
}
