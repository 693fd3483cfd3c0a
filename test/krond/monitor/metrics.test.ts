import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { startLoopDelayProbe } from "../../../src/krond/monitor/loop-delay.js";
import { METRIC_LIMITS, MetricRegistry } from "../../../src/krond/monitor/metric-registry.js";
import { type DaemonMetricOptions, DaemonMetrics } from "../../../src/krond/monitor/metrics.js";
import { FUZZ } from "../../support/fuzz.js";
import { at } from "../../support/scheduling.js";

/** Samples by name and labels: what a scraper would take from the text. */
function samples(text: string): Record<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

describe("the text format", () => {
  test("counter, gauge and histogram, each with its help and type", () => {
    const registry = new MetricRegistry();
    const counter = registry.counter({ name: "c_total", help: "Counts \\ and\nmore.", labels: ["a", "b"] });
    counter.inc({ a: "x", b: "" });
    counter.inc({ b: "", a: "x" }, 2);
    registry.gauge({ name: "g", help: "A level." }).set(-1.5);
    const histogram = registry.histogram({ name: "h_seconds", help: "Spans.", buckets: [0.1, 1], labels: ["k"] });
    for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value, { k: "v" });
    expect(registry.exposition()).toBe(`# HELP c_total Counts \\\\ and\\nmore.
# TYPE c_total counter
c_total{a="x",b=""} 3
# HELP g A level.
# TYPE g gauge
g -1.5
# HELP h_seconds Spans.
# TYPE h_seconds histogram
h_seconds_bucket{k="v",le="0.1"} 2
h_seconds_bucket{k="v",le="1"} 3
h_seconds_bucket{k="v",le="+Inf"} 4
h_seconds_sum{k="v"} 7.65
h_seconds_count{k="v"} 4
`);
  });

  test("a metric without labels is there from the start", () => {
    const registry = new MetricRegistry();
    registry.counter({ name: "c_total", help: "C." });
    registry.histogram({ name: "h", help: "H.", buckets: [1] });
    expect(samples(registry.exposition())).toEqual({
      c_total: 0,
      'h_bucket{le="1"}': 0,
      'h_bucket{le="+Inf"}': 0,
      h_sum: 0,
      h_count: 0,
    });
  });

  test("whatever a label holds, a series is one line that reads back as it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (value) => {
        const registry = new MetricRegistry();
        registry.gauge({ name: "g", help: "G.", labels: ["l"] }).set(1, { l: value });
        const lines = registry.exposition().trimEnd().split("\n");
        expect(lines).toHaveLength(3);
        const written = /^g\{l="((?:[^"\\\n]|\\[\\"n])*)"\} 1$/.exec(lines[2] ?? "")?.[1] ?? "no match";
        const back = written.replace(/\\(.)/gs, (_pair, char: string) => (char === "n" ? "\n" : char));
        expect(back).toBe(value.replace(/\p{Cs}/gu, "\ufffd"));
      }),
      FUZZ,
    );
  });

  test.each([
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "+Inf"],
    [Number.NEGATIVE_INFINITY, "-Inf"],
    [1e21, "1e+21"],
    [0.1 + 0.2, "0.30000000000000004"],
    [1_795_000_000.25, "1795000000.25"],
  ])("the value %s is written %s", (value, text) => {
    const registry = new MetricRegistry();
    registry.gauge({ name: "g", help: "G." }).set(value);
    expect(registry.exposition()).toContain(`\ng ${text}\n`);
  });
});

describe("bounds", () => {
  test("more series than a metric may have are dropped and counted, known ones go on", () => {
    const registry = new MetricRegistry();
    const counter = registry.counter({ name: "c_total", help: "C.", labels: ["l"], maxSeries: 2 });
    for (const label of ["a", "b", "c", "d", "a"]) counter.inc({ l: label });
    expect(samples(registry.exposition())).toEqual({
      'kron_metric_series_dropped_total{metric="c_total"}': 2,
      'c_total{l="a"}': 2,
      'c_total{l="b"}': 1,
    });
  });

  test("a removed series makes room", () => {
    const registry = new MetricRegistry();
    const gauge = registry.gauge({ name: "g", help: "G.", labels: ["l"], maxSeries: 1 });
    gauge.set(1, { l: "a" });
    gauge.remove({ l: "a" });
    gauge.set(2, { l: "b" });
    expect(samples(registry.exposition())).toEqual({ 'g{l="b"}': 2 });
  });

  test("the usual bound holds, and values of labels are cut", () => {
    const registry = new MetricRegistry();
    const counter = registry.counter({ name: "c_total", help: "C.", labels: ["l"] });
    for (let i = 0; i < METRIC_LIMITS.series + 5; i++) counter.inc({ l: `${i}${"x".repeat(5000)}` });
    const text = registry.exposition();
    expect(samples(text)['kron_metric_series_dropped_total{metric="c_total"}']).toBe(5);
    expect(text.length).toBeLessThan((METRIC_LIMITS.series + 5) * (METRIC_LIMITS.labelValueChars + 50));
  });

  test.each<[string, (registry: MetricRegistry) => void]>([
    ["a name that is none", (registry) => registry.counter({ name: "a-b", help: "" })],
    ["a label that is none", (registry) => registry.counter({ name: "a", help: "", labels: ["__x"] })],
    ["the label of quantiles", (registry) => registry.summary({ name: "a", help: "", labels: ["quantile"] })],
    ["the label of buckets", (registry) => registry.histogram({ name: "a", help: "", labels: ["le"], buckets: [1] })],
    ["buckets that do not ascend", (registry) => registry.histogram({ name: "a", help: "", buckets: [1, 1] })],
    ["two metrics of one name", (registry) => [0, 1].map(() => registry.gauge({ name: "a", help: "" }))],
    ["a counter that goes down", (registry) => registry.counter({ name: "a", help: "" }).inc({}, -1)],
    ["a label too few", (registry) => registry.counter({ name: "a", help: "", labels: ["x"] }).inc()],
    ["another label", (registry) => registry.counter({ name: "a", help: "", labels: ["x"] }).inc({ y: "" })],
  ])("%s is a broken invariant", (_title, make) => {
    expect(() => make(new MetricRegistry())).toThrow(/^invariant broken: /);
  });
});

describe("the daemon's metrics", () => {
  const NOW = at("2026-11-18T12:00:00Z");
  const JOB = { identity: "prod/db", periodId: "2026-11-18T11:00:00Z" };

  const FAILED_START = { component: "executor", operation: "arm" } as const;

  function daemonMetrics(options: Partial<DaemonMetricOptions> = {}): DaemonMetrics {
    return new DaemonMetrics({ status: () => ({ jobs: 12, active: 3 }), ...options });
  }

  function event(name: SupervisorEvent["event"], more: Partial<SupervisorEvent> = {}): SupervisorEvent {
    return { at: NOW, event: name, component: "policy", level: "info", ...JOB, ...more };
  }

  function values(metrics: DaemonMetrics): Record<string, number> {
    return samples(metrics.registry.exposition());
  }

  test("have the names that dashboards rely on", () => {
    const metrics = daemonMetrics({
      hasOwnSeries: () => true,
      loopDelay: { read: () => ({ quantiles: [], count: 0, sum: 0 }), stop: () => undefined },
    });
    metrics.nextRun("a", NOW);
    metrics.lastRun("a", { endedAt: NOW, exitCode: 7 }, 2);
    metrics.known("a");
    metrics.observe(event("error", { error: new KronError("command-not-found", "no", FAILED_START) }));
    metrics.observe(event("trigger", { fields: { outcome: "executed", reason: null, decision: null } }));
    metrics.observe(event("started"));
    metrics.observe(event("completed", { fields: { exit_code: 0, signal: null } }));
    const names = [...metrics.registry.exposition().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names).toEqual([
      "kron_periods_total",
      "kron_runs_total",
      "kron_runs_by_source_total",
      "kron_retries_total",
      "kron_notifications_total",
      "kron_start_failures_total",
      "kron_run_duration_seconds",
      "kron_start_lateness_seconds",
      "kron_commit_seconds",
      "kron_job_next_run_timestamp_seconds",
      "kron_job_last_success_timestamp_seconds",
      "kron_job_last_exit_code",
      "kron_job_last_run_timestamp_seconds",
      "kron_job_consecutive_failures",
      "kron_job_failures_total",
      "kron_config_last_reload_successful",
      "kron_config_last_reload_success_timestamp_seconds",
      "kron_state_ahead_of_clock_total",
      "kron_jobs",
      "kron_active",
      "kron_event_loop_delay_seconds",
    ]);
  });

  const outcomes: readonly [SupervisorEvent["event"], string, string | null, string][] = [
    ["trigger", "executed", null, 'kron_periods_total{outcome="executed",reason=""}'],
    ["missed_deadline", "missed", "late_start", 'kron_periods_total{outcome="missed",reason="late_start"}'],
    [
      "skipped_concurrency",
      "skipped",
      "concurrency_forbid",
      'kron_periods_total{outcome="skipped",reason="concurrency_forbid"}',
    ],
    ["skipped", "skipped", "state_recovered", 'kron_periods_total{outcome="skipped",reason="state_recovered"}'],
    [
      "missed_deadline",
      "missed",
      "not_started:command-not-found",
      'kron_periods_total{outcome="missed",reason="not_started:command-not-found"}',
    ],
    ["missed_deadline", "missed", "not_started:whatever", 'kron_periods_total{outcome="missed",reason="other"}'],
    ["unschedulable", "unschedulable", null, 'kron_periods_total{outcome="unschedulable",reason=""}'],
  ];

  test.each(outcomes)("%s counts a period", (name, outcome, reason, series) => {
    const metrics = daemonMetrics();
    metrics.observe(event(name, { fields: { outcome, reason, decision: null } }));
    expect(values(metrics)[series]).toBe(1);
  });

  test("a run: lateness from its chosen time to its start, duration to its end", () => {
    const metrics = daemonMetrics();
    const decision = { chosen_time: "2026-11-18T12:00:00Z" };
    metrics.observe(event("trigger", { fields: { outcome: "executed", reason: null, decision } }));
    metrics.observe(event("started", { at: NOW + 250 }));
    metrics.observe(event("completed", { at: NOW + 60_250, fields: { exit_code: 0, signal: null } }));
    expect(values(metrics)).toMatchObject({
      kron_start_lateness_seconds_sum: 0.25,
      kron_start_lateness_seconds_count: 1,
      'kron_start_lateness_seconds_bucket{le="0.1"}': 0,
      'kron_start_lateness_seconds_bucket{le="0.25"}': 1,
      kron_run_duration_seconds_sum: 60,
      kron_run_duration_seconds_count: 1,
    });
  });

  test.each([
    [0, null, "success"],
    [3, null, "failure"],
    [null, "SIGKILL", "signal"],
    [null, null, "unknown"],
  ])("exit code %s, signal %s: result %s; a run nobody saw starting has no duration", (exitCode, signal, result) => {
    const metrics = daemonMetrics();
    metrics.observe(event("completed", { fields: { exit_code: exitCode, signal } }));
    expect(values(metrics)).toMatchObject({
      [`kron_runs_total{result="${result}"}`]: 1,
      kron_run_duration_seconds_count: 0,
    });
  });

  test("jobs have series of their own only where that was asked for, and none after they are removed", () => {
    const metrics = daemonMetrics({ hasOwnSeries: (identity) => identity === "prod/db" });
    for (const identity of ["prod/db", "other"]) {
      metrics.nextRun(identity, NOW);
      metrics.known(identity);
      metrics.lastRun(identity, { endedAt: NOW, exitCode: 0 }, 0);
      metrics.observe(event("completed", { identity, fields: { exit_code: 0, signal: null } }));
    }
    const own = (): string[] => Object.keys(values(metrics)).filter((name) => name.startsWith("kron_job_"));
    expect(own()).toEqual([
      'kron_job_next_run_timestamp_seconds{identity="prod/db"}',
      'kron_job_last_success_timestamp_seconds{identity="prod/db"}',
      'kron_job_last_exit_code{identity="prod/db"}',
      'kron_job_last_run_timestamp_seconds{identity="prod/db"}',
      'kron_job_consecutive_failures{identity="prod/db"}',
      'kron_job_failures_total{identity="prod/db"}',
    ]);
    expect(values(metrics)['kron_job_next_run_timestamp_seconds{identity="prod/db"}']).toBe(NOW / 1000);
    metrics.nextRun("prod/db", null);
    metrics.observe(event("removed"));
    expect(own()).toEqual([]);
  });

  test("a job that never succeeded: failures from zero on, its last exit, and when that was", () => {
    const metrics = daemonMetrics({ hasOwnSeries: () => true });
    const failures = (): unknown => values(metrics)['kron_job_failures_total{identity="prod/db"}'];
    metrics.known("prod/db");
    metrics.lastRun("prod/db", null, 0);
    expect([failures(), values(metrics)['kron_job_last_exit_code{identity="prod/db"}']]).toEqual([0, undefined]);
    for (const exit_code of [7, 7, 0]) metrics.observe(event("completed", { fields: { exit_code, signal: null } }));
    metrics.known("prod/db");
    metrics.lastRun("prod/db", { endedAt: NOW, exitCode: 7 }, 2);
    expect([failures(), values(metrics)]).toEqual([
      2,
      expect.objectContaining({
        'kron_job_last_exit_code{identity="prod/db"}': 7,
        'kron_job_last_run_timestamp_seconds{identity="prod/db"}': NOW / 1000,
        'kron_job_consecutive_failures{identity="prod/db"}': 2,
      }),
    ]);
  });

  test("runs are counted by what asked for them, starts that failed by their reason", () => {
    const metrics = daemonMetrics();
    const ends = [null, "manual", "hint-interval", "manual"];
    for (const source of ends) metrics.observe(event("completed", { fields: { source, exit_code: 0, signal: null } }));
    metrics.observe(event("error", { error: new KronError("command-not-found", "no", FAILED_START) }));
    metrics.observe(
      event("error", { error: new KronError("exit-nonzero", "no", { ...FAILED_START, operation: "run" }) }),
    );
    expect(values(metrics)).toMatchObject({
      'kron_runs_by_source_total{source="cron",result="success"}': 1,
      'kron_runs_by_source_total{source="manual",result="success"}': 2,
      'kron_runs_by_source_total{source="hint-interval",result="success"}': 1,
      'kron_start_failures_total{code="command-not-found"}': 1,
    });
    expect(Object.keys(values(metrics)).filter((name) => name.startsWith("kron_start_failures"))).toHaveLength(1);
  });

  test("a reload that could not take everything over leaves the time of the last that could", () => {
    const metrics = daemonMetrics();
    metrics.configurationRead(NOW, 0);
    metrics.configurationRead(NOW + 60_000, 2);
    expect(values(metrics)).toMatchObject({
      kron_config_last_reload_successful: 0,
      kron_config_last_reload_success_timestamp_seconds: NOW / 1000,
    });
  });

  test("S32: a state ahead of the clock is counted", () => {
    const metrics = daemonMetrics();
    metrics.observe(event("state_ahead_of_clock"));
    expect(values(metrics)["kron_state_ahead_of_clock_total"]).toBe(1);
  });

  test("levels are read when somebody asks", () => {
    let lost = 0;
    const metrics = daemonMetrics({
      loopDelay: {
        read: () => ({ quantiles: [{ quantile: "1", value: 0.004 }], count: 10, sum: 0.02 }),
        stop: () => undefined,
      },
      lostLogLines: () => lost,
    });
    metrics.committed(0.003);
    expect(values(metrics)).toMatchObject({
      kron_jobs: 12,
      kron_active: 3,
      'kron_event_loop_delay_seconds{quantile="1"}': 0.004,
      kron_commit_seconds_count: 1,
      kron_log_lines_lost_total: 0,
    });
    expect(metrics.registry.exposition()).toContain("# TYPE kron_event_loop_delay_seconds summary\n");
    // Asked for the third time.
    expect(values(metrics)).toMatchObject({
      kron_event_loop_delay_seconds_count: 30,
      kron_event_loop_delay_seconds_sum: 0.06,
    });
    lost = 5;
    expect([values(metrics), values(metrics)].map((each) => each["kron_log_lines_lost_total"])).toEqual([5, 5]);
  });

  test("the probe of the event loop gives three quantiles and lets the process end", () => {
    const probe = startLoopDelayProbe();
    const { quantiles, count, sum } = probe.read();
    probe.stop();
    expect(quantiles.map(({ quantile }) => quantile)).toEqual(["0.5", "0.99", "1"]);
    const figures = [...quantiles.map(({ value }) => value), count, sum];
    expect(figures.every((figure) => figure >= 0 && Number.isFinite(figure))).toBe(true);
  });
});

describe("messages and retries", () => {
  const status = () => ({ jobs: 1, active: 0 });

  test("every result is there from the start, and each is counted as its own", () => {
    let waiting = 2;
    const metrics = new DaemonMetrics({ status, waitingNotices: () => waiting });
    const told = (result: string) =>
      samples(metrics.registry.exposition())[`kron_notifications_total{result="${result}"}`];
    expect(["delivered", "failed", "grouped", "given_up"].map(told)).toEqual([0, 0, 0, 0]);
    expect(samples(metrics.registry.exposition())["kron_notifications_waiting"]).toBe(2);
    for (const result of ["failed", "failed", "delivered", "grouped", "given_up"] as const) metrics.notified(result);
    waiting = 0;
    expect(["delivered", "failed", "grouped", "given_up"].map(told)).toEqual([1, 2, 1, 1]);
    expect(samples(metrics.registry.exposition())["kron_notifications_waiting"]).toBe(0);
  });

  test("S43: a further attempt is a retry, and a first one is none", () => {
    const metrics = new DaemonMetrics({ status });
    const about = { at: at("2026-03-01T01:00:00Z"), component: "executor", level: "info", identity: "a" } as const;
    const ended = (periodId: string, fields: Readonly<Record<string, unknown>>) =>
      metrics.observe({ ...about, periodId, event: "completed", fields: { signal: null, ...fields } });
    ended("p1", { exit_code: 7 });
    ended("p2", { exit_code: 7, source: "retry" });
    ended("p3", { exit_code: 0, source: "retry" });
    expect(samples(metrics.registry.exposition())).toMatchObject({
      'kron_retries_total{result="failure"}': 1,
      'kron_retries_total{result="success"}': 1,
      'kron_retries_total{result="signal"}': 0,
      'kron_runs_by_source_total{source="retry",result="failure"}': 1,
    });
  });
});
