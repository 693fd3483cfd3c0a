/** What is shown of the last run of single jobs, also of one that never succeeded. */
import { type EpochMs, SECOND_MS } from "../../core/time/instant.js";
import type { Gauge, MetricRegistry } from "./metric-registry.js";

/** Jobs that can have series of their own. */
export const OWN_SERIES = 10_000;

export interface LastRun {
  readonly endedAt: EpochMs;
  /** Also of what has none: see `exitCodeOf`. */
  readonly exitCode: number;
}

export class JobGauges {
  readonly #exitCode: Gauge;
  readonly #endedAt: Gauge;
  readonly #failures: Gauge;

  constructor(registry: MetricRegistry) {
    const gauge = (name: string, what: string): Gauge => {
      const help = `${what}; only for jobs with series of their own.`;
      return registry.gauge({ name, help, labels: ["identity"], maxSeries: OWN_SERIES });
    };
    const code = "exit code of the last run: 128 and more for a signal, 1 for a request that failed, 70 if unknown";
    this.#exitCode = gauge("kron_job_last_exit_code", `The ${code}`);
    this.#endedAt = gauge("kron_job_last_run_timestamp_seconds", "When the last run of the job ended, however it did");
    this.#failures = gauge("kron_job_consecutive_failures", "Runs in a row that failed, as far as the history reaches");
  }

  show(identity: string, run: LastRun | null, failures: number): void {
    this.#failures.set(failures, { identity });
    if (run === null) return;
    this.#exitCode.set(run.exitCode, { identity });
    this.#endedAt.set(run.endedAt / SECOND_MS, { identity });
  }

  remove(identity: string): void {
    for (const gauge of [this.#exitCode, this.#endedAt, this.#failures]) gauge.remove({ identity });
  }
}
