import { expect, test } from "vitest";
import { readConfigText } from "../../src/core/config/readers.js";
import { compileRule } from "../../src/core/decision/compile.js";
import { decide } from "../../src/core/decision/decide.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import { loadBench } from "./support/load.js";

interface Jobs {
  readonly CRONTAB_LINES: number;
  restingExpression(index: number, now: number): string;
  restingJob(index: number, now: number): object;
  dueJob(identity: string, dueAt: number, command: readonly string[]): object;
  jsonLines(jobs: readonly object[]): string;
  yaml(jobs: readonly object[]): string;
  crontabs(lines: readonly string[], first?: string): string[];
  crontabLine(expression: string, command: string): string;
}

const bench = await loadBench<Jobs>("krond/jobs.mjs");
const NOW = Date.UTC(2026, 10, 18, 14, 30, 5);
const MONTH_MS = 30 * 86_400_000;

function definitionOf(job: object): JobDefinition {
  const read = readJobDefinition(job);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

test.each([0, 59, 60, 1_439, 1_440, 40_319, 40_320, 999_999])(
  "resting job %i is sound and not due for four months",
  (index) => {
    const compiled = compileRule(definitionOf(bench.restingJob(index, NOW)));
    expect(compiled.schedule.next(NOW)).toBeGreaterThan(NOW + 4 * MONTH_MS);
  },
);

test("resting jobs are spread: as many expressions as a month of 28 days has minutes", () => {
  const expressions = Array.from({ length: 40_320 }, (_, index) => bench.restingExpression(index, NOW));
  expect(new Set(expressions).size).toBe(40_320);
});

test.each([0, 1, 7, 29, 30, 59])("due jobs: every one is chosen for second %i, whatever its identity", (second) => {
  const nominalAt = Date.UTC(2026, 10, 18, 14, 31);
  const dueAt = nominalAt + second * 1000;
  const chosen = Array.from({ length: 200 }, (_, index) => {
    const compiled = compileRule(definitionOf(bench.dueJob(`bench/job-${index}`, dueAt, ["/bin/true"])));
    return decide(compiled, nominalAt).chosenAt;
  });
  expect(new Set(chosen)).toEqual(new Set([dueAt]));
});

test.each([
  { format: "jsonl", write: bench.jsonLines },
  { format: "yaml", write: bench.yaml },
] as const)("the same jobs as $format are read as the same definitions", ({ format, write }) => {
  const jobs = [0, 1, 2].map((index) => bench.restingJob(index, NOW));
  const read = readConfigText(format, `jobs.${format}`, write(jobs));
  expect(read.problems).toEqual([]);
  expect(read.jobs.map(({ definition }) => definition)).toEqual(jobs.map(definitionOf));
});

test("crontabs: no file is longer than cron reads, nothing is lost, and the first line comes first", () => {
  const lines = Array.from({ length: 25_000 }, (_, index) => bench.crontabLine(`${index % 60} * * * *`, "/bin/true"));
  const files = bench.crontabs(lines, "@reboot root /bin/true");
  expect(files.map((text) => text.split("\n").length - 1)).toEqual([10_000, 10_000, 5_001]);
  expect(files[0]?.startsWith("@reboot root /bin/true\n0 * * * * root /bin/true\n")).toBe(true);
});
