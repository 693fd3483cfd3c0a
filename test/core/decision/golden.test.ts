import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { compileRule, scheduleOf } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { explainDecision } from "../../../src/core/decision/explain.js";
import type { CompiledRule, DecisionRecord } from "../../../src/core/decision/model.js";
import { toDecisionRecord } from "../../../src/core/decision/record.js";
import { readDecisionRecord } from "../../../src/core/decision/record-reader.js";
import type { DstRule } from "../../../src/core/time/dst.js";

/** Promises: a change to one of these files needs a new version of the decision contract. */
interface GoldenFile {
  readonly version: number;
  readonly rows: readonly {
    readonly name: string;
    readonly record: DecisionRecord;
    readonly first?: { u: number; x: number };
  }[];
  readonly draws?: readonly { readonly record: DecisionRecord; readonly draws: readonly (readonly number[])[] }[];
}

function golden(file: string): GoldenFile {
  return JSON.parse(fs.readFileSync(path.resolve(import.meta.dirname, "../../golden", file), "utf8"));
}

function compiledFrom(record: DecisionRecord): { compiled: CompiledRule; nominalAt: number } {
  const read = readDecisionRecord(record);
  if (!read.ok) throw new Error(read.error.map(({ message }) => message).join("; "));
  return { compiled: compileRule(read.value.rule), nominalAt: read.value.nominalAt };
}

function recomputed(record: DecisionRecord): DecisionRecord {
  const { compiled, nominalAt } = compiledFrom(record);
  const versions = { tzVersion: record.tz_version, engineVersion: record.engine_version };
  return toDecisionRecord(compiled, decide(compiled, nominalAt), versions);
}

interface MonthDays extends GoldenFile {
  readonly schedules: readonly {
    readonly schedule: string;
    readonly timezone: string;
    readonly nominal_times: readonly string[];
  }[];
}

interface OneTimes extends GoldenFile {
  readonly schedules: readonly {
    readonly schedule: string;
    readonly timezone: string;
    readonly dst: DstRule;
    readonly nominal_time: string | null;
  }[];
}

const published = golden("published-vectors.json");
const monthDays = golden("month-days-v1.json") as MonthDays;
const oneTimes = golden("one-times-v1.json") as OneTimes;
const frozen = golden("decisions-v1.json");

describe("published vectors, value for value", () => {
  test("all 22 are there", () => {
    expect(published.rows.length).toBe(22);
  });

  test.each(published.rows)("$name", ({ record }) => {
    expect(recomputed(record)).toEqual(record);
  });
});

describe("frozen decisions of contract version 1", () => {
  test("the file is the one that was frozen: version 1, 443 rows, 23 draw tables", () => {
    expect([frozen.version, frozen.rows.length, frozen.draws?.length]).toEqual([1, 443, 23]);
  });

  test("every row", () => {
    expect(frozen.rows.map(({ record }) => recomputed(record))).toEqual(frozen.rows.map(({ record }) => record));
  });

  test("the first draw of every row, to the last bit", () => {
    const firstDraws = frozen.rows.map(({ record }) => {
      const { compiled, nominalAt } = compiledFrom(record);
      const [first] = explainDecision(compiled, nominalAt).candidates;
      return { u: first?.u, x: first?.x };
    });
    expect(firstDraws).toEqual(frozen.rows.map(({ first }) => first));
  });

  test.each(frozen.draws ?? [])(
    "64 draws of $record.distribution $record.dist_params, to the last bit",
    ({ record, draws }) => {
      const { compiled, nominalAt } = compiledFrom(record);
      const { candidates } = explainDecision(compiled, nominalAt);
      expect(candidates.map(({ u, x, secondInWindow }) => [u, x, secondInWindow])).toEqual(draws);
    },
  );

  test("the rows cover what they are for", () => {
    const records = frozen.rows.map(({ record }) => record);
    const values = (of: (record: DecisionRecord) => string) => [...new Set(records.map(of))].sort();
    expect(values(({ distribution }) => distribution)).toEqual([
      "exponential",
      "normal",
      "skewEarly",
      "skewLate",
      "uniform",
    ]);
    expect(values(({ window_mode }) => window_mode)).toEqual(["after", "around", "before"]);
    expect(values(({ seed_strategy }) => seed_strategy)).toEqual(["daily", "stable", "weekly"]);
    expect(values(({ dst }) => `${dst.gap} ${dst.overlap}`)).toEqual([
      "next both",
      "next last",
      "skip both",
      "skip first",
    ]);
    expect(values(({ timezone }) => timezone).length).toBe(7);
    expect(values(({ unschedulable, attempts }) => `${unschedulable} ${attempts > 1}`)).toEqual([
      "false false",
      "false true",
      "true false",
      "true true",
    ]);
  });
});

describe("S3: days in relation to their month, computed by another program", () => {
  test("the file is the one that was frozen: 8 schedules, 22 decisions", () => {
    expect([monthDays.version, monthDays.schedules.length, monthDays.rows.length]).toEqual([1, 8, 22]);
  });

  test.each(monthDays.schedules)("$schedule in $timezone", ({ schedule, timezone, nominal_times }) => {
    const compiled = scheduleOf({ schedule, timezone, dst: { gap: "skip", overlap: "both" } });
    if (!compiled.ok) throw new Error(compiled.error.message);
    const times = nominal_times.map((text) => Date.parse(text));
    const [first = 0, last = 0] = [times[0], times.at(-1)];
    expect([...compiled.value.between(Date.UTC(2026, 0, 1), last + 1)]).toEqual(times);
    const backwards = times.map((_, i) => compiled.value.previous((times[times.length - i] ?? last + 1) - 1));
    expect(backwards.reverse()).toEqual(times);
    expect([compiled.value.matches(first), compiled.value.matches(first + 86_400_000)]).toEqual([true, false]);
  });

  test.each(monthDays.rows)("$name", ({ record }) => {
    expect(recomputed(record)).toEqual(record);
  });
});

describe("S3: schedules of one period, computed by another program", () => {
  test("the file is the one that was frozen: 59 schedules, 31 decisions", () => {
    expect([oneTimes.version, oneTimes.schedules.length, oneTimes.rows.length]).toEqual([1, 59, 31]);
  });

  test.each(oneTimes.schedules)("$schedule in $timezone, $dst", ({ nominal_time, ...text }) => {
    const compiled = scheduleOf(text);
    if (!compiled.ok) throw new Error(compiled.error.message);
    const wanted = nominal_time === null ? [] : [Date.parse(nominal_time)];
    expect([...compiled.value.between(0, Date.UTC(2199, 0))]).toEqual(wanted);
  });

  test.each(oneTimes.rows)("$name", ({ record }) => {
    expect(recomputed(record)).toEqual(record);
  });
});
