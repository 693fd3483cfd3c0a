import { expect, test } from "vitest";
import type { JobStatus } from "../../../src/actors/supervisor/port.js";
import { JobSeries } from "../../../src/krond/monitor/job-series.js";
import { DaemonMetrics } from "../../../src/krond/monitor/metrics.js";

const NOW = Date.parse("2026-03-01T12:00:00Z");

test.each([
  ["2026-03-01T12:30:00Z", "enabled", NOW + 1_800_000],
  // S24: it is due, and is being started or tried again.
  ["2026-03-01T11:00:00Z", "enabled", NOW],
  ["2026-03-01T11:00:00Z", "suspended", null],
])("S24: what is to run next at %s (%s) never lies in the past", async (nextChosenTime, standing, expected) => {
  const metrics = new DaemonMetrics({ status: () => ({ jobs: 1, active: 0 }), hasOwnSeries: () => true });
  const series = new JobSeries(() => true, metrics);
  await series.jobsAre(["a"], { get: async () => undefined } as never);
  const row = { identity: "a", standing, nextChosenTime, lastRun: null, failures: 0 } as JobStatus;
  await series.collect({ list: async () => [row] }, NOW);
  const line = /^kron_job_next_run_timestamp_seconds\{identity="a"\} (\S+)$/m.exec(metrics.registry.exposition());
  expect(line === null ? null : Number(line[1]) * 1_000).toBe(expected);
});
