/** What a scraper of Prometheus, and its own checker, expect of the page. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { DaemonMetrics } from "../../../src/krond/monitor/metrics.js";

const PROMTOOL = process.env["PROMTOOL"] ?? "promtool";
const hasPromtool = spawnSync(PROMTOOL, ["--version"]).status === 0;
const NOW = Date.parse("2026-11-18T12:00:00Z");

/** Every family there is, with something in it. */
function page(): string {
  const metrics = new DaemonMetrics({
    status: () => ({ jobs: 1, active: 0 }),
    hasOwnSeries: () => true,
    lostLogLines: () => 0,
    waitingNotices: () => 3,
    loopDelay: {
      read: () => ({ quantiles: [{ quantile: "0.5", value: 1 }], count: 1, sum: 1 }),
      stop: () => undefined,
    },
  });
  const about = {
    at: NOW,
    component: "executor",
    level: "info",
    identity: "a",
    periodId: "2026-11-18T12:00:00Z",
  } as const;
  const error = new KronError("command-not-found", "no", { component: "executor", operation: "arm" });
  metrics.known("a");
  metrics.nextRun("a", NOW);
  metrics.lastRun("a", { endedAt: NOW, exitCode: 7 }, 2);
  metrics.configurationRead(NOW, 0);
  metrics.observe({ ...about, event: "trigger", fields: { outcome: "executed", reason: null, decision: null } });
  metrics.observe({ ...about, event: "started" });
  metrics.observe({ ...about, event: "completed", fields: { exit_code: 0, signal: null } });
  metrics.observe({ ...about, event: "error", error });
  metrics.observe({ ...about, event: "completed", fields: { exit_code: 1, signal: null, source: "retry" } });
  metrics.notified("delivered");
  return metrics.registry.exposition();
}

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly string[];
}

function families(text: string): Family[] {
  return text
    .split(/^(?=# HELP )/m)
    .filter((part) => part !== "")
    .map((part) => {
      const [help = "", type = "", ...samples] = part.trimEnd().split("\n");
      const [, name = "", about = ""] = /^# HELP (\S+) (.*)$/.exec(help) ?? [];
      return { name, help: about, type: type.replace(`# TYPE ${name} `, ""), samples };
    });
}

const SUFFIXES: Readonly<Record<string, string>> = {
  counter: "",
  gauge: "",
  histogram: "(?:_bucket|_sum|_count)",
  summary: "(?:_sum|_count)?",
};

describe("the page of metrics", () => {
  const all = families(page());

  test("every family has a help, a type, samples of its own name, and comes once", () => {
    expect(all.length).toBeGreaterThan(15);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { name, type, help, samples } of all) {
      expect([name, help === "", Object.hasOwn(SUFFIXES, type), samples.length > 0]).toEqual([name, false, true, true]);
      const own = new RegExp(`^${name}${SUFFIXES[type]}(?:\\{[^}]*\\})? \\S+$`);
      expect(samples.filter((sample) => !own.test(sample))).toEqual([]);
    }
  });

  test.each([
    [
      "counters end in _total, and nothing else does",
      ({ name, type }: Family) => name.endsWith("_total") === (type === "counter"),
    ],
    [
      "only summaries have quantiles, only histograms buckets",
      ({ type, samples }: Family) =>
        samples.some((sample) => sample.includes("quantile=")) === (type === "summary") &&
        samples.some((sample) => /[{,]le=/.test(sample)) === (type === "histogram"),
    ],
    [
      "units are base units",
      ({ name }: Family) => !/_(?:ms|milliseconds|minutes|hours|kilobytes|percent)(?:_|$)/.test(name),
    ],
    ["names are snake_case", ({ name }: Family) => /^kron(?:_[a-z]+)+$/.test(name)],
    ["no type in a name", ({ name, type }: Family) => !name.includes(`_${type}`)],
  ])("%s", (_title, isSo) => {
    expect(all.filter((family) => !isSo(family)).map(({ name }) => name)).toEqual([]);
  });

  test.skipIf(!hasPromtool)("promtool check metrics has nothing to say (skipped where there is no promtool)", () => {
    const checked = spawnSync(PROMTOOL, ["check", "metrics"], { input: page(), encoding: "utf8" });
    expect([checked.status, checked.stdout, checked.stderr]).toEqual([0, "", ""]);
  });
});
