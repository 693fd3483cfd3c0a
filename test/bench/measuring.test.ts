import { expect, test } from "vitest";
import { type Loaded, loadBench } from "./support/load.js";

interface Measure {
  quantile(values: readonly number[], share: number): number | null;
}
interface Proc {
  parseMemory(status: string): { rss: number; anonymous: number; file: number };
  parseStat(stat: string): { state: string; parent: number; cpuMs: number };
  treeOf(pid: number): number[];
  fineCpuMsOf(pids: readonly number[]): number;
}
interface Stamps {
  parseStamps(text: string): number[];
  latenessOf(stamps: readonly number[], dueAt: number): Loaded;
}
interface Metrics {
  parseMetrics(text: string): Map<string, number>;
  loopDelayMs(samples: Map<string, number>, quantile: string): number;
}
interface Rows {
  compared(fields: object): Loaded;
}
interface Memory {
  bytesAJob(rounds: readonly object[], base: readonly object[], count: number): Loaded[];
}

const { quantile } = await loadBench<Measure>("lib/measure.mjs");
const { parseMemory, parseStat, treeOf, fineCpuMsOf } = await loadBench<Proc>("lib/proc.mjs");
const { parseStamps, latenessOf } = await loadBench<Stamps>("krond/stamps.mjs");
const { parseMetrics, loopDelayMs } = await loadBench<Metrics>("krond/metrics.mjs");
const { compared } = await loadBench<Rows>("krond/rows.mjs");
const { bytesAJob } = await loadBench<Memory>("krond/memory.mjs");

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

test.each([
  { name: "of nothing there is none", values: [], share: 0.5, expected: null },
  { name: "of one it is that one", values: [7], share: 0.99, expected: 7 },
  { name: "the middle", values: hundred, share: 0.5, expected: 50 },
  { name: "99 of 100", values: hundred, share: 0.99, expected: 99 },
  { name: "the worst", values: hundred, share: 1, expected: 100 },
  { name: "numbers, not texts, are sorted", values: [100, 9], share: 0.5, expected: 9 },
])("quantile, nearest rank: $name", ({ values, share, expected }) => {
  expect(quantile(values, share)).toBe(expected);
});

test("memory from /proc/PID/status: own pages and those of files apart, in bytes", () => {
  const status = "Name:\tnode\nVmHWM:\t  900 kB\nVmRSS:\t     300 kB\nRssAnon:\t     200 kB\nRssFile:\t     100 kB\n";
  expect(parseMemory(status)).toEqual({ rss: 307_200, anonymous: 204_800, file: 102_400 });
});

test.each([
  { name: "plain", comm: "node", expected: { state: "S", parent: 12, cpuMs: 1_500 } },
  { name: "blanks and parentheses in the name", comm: "a) R 9 (b", expected: { state: "S", parent: 12, cpuMs: 1_500 } },
])("/proc/PID/stat: $name", ({ comm, expected }) => {
  expect(parseStat(`77 (${comm}) S 12 77 77 0 -1 4194304 100 0 0 0 120 30 0 0 20 0 11 0 5000`)).toEqual(expected);
});

test("the tree of a process begins with itself, and its processor time can be read", () => {
  expect(treeOf(process.pid)[0]).toBe(process.pid);
  expect(fineCpuMsOf([process.pid])).toBeGreaterThan(0);
});

test("stamps: nanoseconds become milliseconds; a line that is still being written is left out", () => {
  expect(parseStamps("1700000000000000000\n1700000000250123999\n17000000")).toEqual([
    1_700_000_000_000, 1_700_000_000_250.123,
  ]);
  expect(parseStamps("")).toEqual([]);
});

test("lateness: quantiles from the chosen time on, starts a second up to the last, and who came too early", () => {
  expect(latenessOf([1_010, 1_020, 1_030, 1_500], 1_000)).toEqual({
    count: 4,
    p50: 20,
    p99: 500,
    last: 500,
    rate: 8,
    early: 0,
  });
  expect(latenessOf([999, 1_001], 1_000)).toMatchObject({ early: 1 });
  expect(latenessOf([], 1_000)).toEqual({ count: 0, p50: null, p99: null, last: null, rate: null, early: 0 });
});

test("metrics: samples by name and labels; comments and what is no number are left out", () => {
  const text = [
    "# HELP kron_jobs Jobs in force.",
    "kron_jobs 10000",
    'kron_periods_total{outcome="executed",reason=""} 1000',
    'kron_event_loop_delay_seconds{quantile="0.99"} 0.0125',
  ].join("\n");
  const samples = parseMetrics(text);
  expect(samples.get("kron_jobs")).toBe(10_000);
  expect(samples.get('kron_periods_total{outcome="executed",reason=""}')).toBe(1_000);
  expect(samples.size).toBe(3);
  expect(loopDelayMs(samples, "0.99")).toBe(12.5);
  expect(loopDelayMs(samples, "1")).toBeNaN();
});

const NAMED = { id: "P5", name: "lateness", key: "p99", unit: "ms" };

test("a row: medians of both, their ratio, the spread of ours, and how many rounds there were", () => {
  const ours = [{ p99: 20 }, { p99: 40 }, { p99: 30 }];
  const peer = { name: "cron", rounds: [{ p99: 300 }] };
  expect(compared({ ...NAMED, ours, peer })).toMatchObject({
    id: "P5",
    value: 30,
    unit: "ms",
    peer: "cron",
    peer_value: 300,
    ratio: 0.1,
    spread: 1 / 3,
    rounds: 3,
    peer_rounds: 1,
  });
});

test("a row: a peer that could not be measured keeps its row, without value and ratio", () => {
  const row = compared({ ...NAMED, ours: [{ p99: 20 }], peer: { name: "cron", rounds: [] } });
  expect(row).toMatchObject({ value: 20, peer: "cron", peer_value: null, ratio: null, spread: null });
});

test("bytes a job: what lies above a thousand jobs, by the jobs in between", () => {
  const state = (anonymous: number, file: number) => ({ anonymous, file });
  const round = (anonymous: number) => ({
    first: state(2 * anonymous, 0),
    settled: state(anonymous, 9_000),
    held: state(anonymous / 2, 0),
  });
  const base = [round(100_000), round(90_000), round(500_000)];
  expect(bytesAJob([round(1_000_000)], base, 10_000)).toEqual([{ first: 200, settled: 100, held: 50, file: 0 }]);
});

interface Previous {
  previousIn(directory: string): string;
  previousName(root: string): string;
}

const { previousIn, previousName } = await loadBench<Previous>("lib/previous.mjs");

test("another version as a peer: what is no built copy of Kron is refused with what is missing and what to do", () => {
  expect(() => previousIn("/nonexistent/kron")).toThrow(
    '/nonexistent/kron is no built copy of Kron: there is no dist/krond.js; run "npm ci && npm run build" in it',
  );
});

test("another version as a peer is called by its version", () => {
  const root = new URL("../../", import.meta.url).pathname;
  expect(previousName(root)).toMatch(/^Kron \d+\.\d+\.\d+ \([0-9a-f]{7}\)$|^Kron \d+\.\d+\.\d+, before$/);
});
