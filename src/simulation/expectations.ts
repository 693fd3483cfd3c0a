/** Rules that a simulation has to keep, such as `missed=0` or `peak<=50`: their text, and the verdict. */

import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import { didYouMean } from "../core/job/suggest.js";
import { formatDuration } from "../core/time/duration.js";
import { parseSpan } from "./span.js";

/** What can be asked for, and what it means. Durations are compared in milliseconds. */
export const METRICS = {
  periods: "periods that were due",
  executed: "periods that ended in a start",
  skipped: "periods skipped by a concurrency rule",
  missed: "periods whose deadline passed",
  unschedulable: "periods without an allowed instant",
  not_evaluated: "periods passed over after an interruption, or while a hint held",
  before_definition: "periods due before their definition",
  suspended: "periods of suspended jobs",
  paused: "periods of paused jobs",
  down: "periods due while no daemon ran, and never looked at",
  removed: "periods of jobs that were removed before they were handled",
  open: "periods still open at the end",
  unaccounted: "periods with no outcome and no reason",
  duplicates: "periods that ran more than once",
  violations: "broken promises of any kind",
  started: "commands that began, manual runs included",
  manual: "commands begun by hand",
  intervals: "commands begun because an interval, or a bound of the pace, asked for them",
  hinted: "commands begun because of a hint",
  failed: "runs that ended with an exit code above zero or by a signal",
  unknown_exits: "runs whose end nobody saw",
  still_running: "runs still going at the end",
  refused: "attempts for which no process could be created",
  overlaps: "starts while another run of the same job was going",
  peak: "most runs at once",
  starts_per_second: "most starts in one second",
  max_lateness: "longest time between the chosen instant and the start",
  fatal: "ends of the daemon by a fatal error",
} as const;
export type Metric = keyof typeof METRICS;
export type Figures = Readonly<Record<Metric, number>>;

const DURATIONS: ReadonlySet<Metric> = new Set(["max_lateness"]);
const OPERATORS = ["<=", ">=", "!=", "=", "<", ">"] as const;
type Operator = (typeof OPERATORS)[number];

export interface Expectation {
  readonly metric: Metric;
  readonly operator: Operator;
  readonly value: number;
  /** As written. */
  readonly text: string;
}

export interface Verdict {
  readonly rule: string;
  readonly actual: number;
  readonly holds: boolean;
}

const FORM = /^\s*([a-z_]+)\s*(<=|>=|!=|==?|<|>)\s*(\S+)\s*$/;

export function parseExpectation(text: string): Result<Expectation, Problem> {
  const [, name = "", sign = "", amount = ""] = FORM.exec(text) ?? [];
  if (name === "") return err(problem(text, `cannot be read: ${JSON.stringify(text)}`, "write missed=0 or peak<=50"));
  if (!Object.hasOwn(METRICS, name)) {
    const known = Object.keys(METRICS);
    return err(problem(text, `unknown figure "${name}"`, didYouMean(name, known) ?? `known: ${known.join(", ")}`));
  }
  const metric = name as Metric;
  const value = readAmount(metric, amount);
  if (value === null) {
    const wanted = DURATIONS.has(metric) ? "a duration like 5s" : "a whole number";
    return err(
      problem(text, `"${amount}" is not ${wanted}`, `write ${name}${sign}${DURATIONS.has(metric) ? "5s" : "0"}`),
    );
  }
  const operator = (sign === "==" ? "=" : sign) as Operator;
  return ok({ metric, operator, value, text: text.trim() });
}

function readAmount(metric: Metric, amount: string): number | null {
  if (!DURATIONS.has(metric)) return /^\d{1,15}$/.test(amount) ? Number(amount) : null;
  const span = parseSpan(amount);
  return span.ok ? span.value : null;
}

function problem(text: string, message: string, hint: string): Problem {
  return { code: "field-range", message, path: [], span: { start: 0, end: text.length }, hint };
}

export function judge({ metric, operator, value, text }: Expectation, figures: Figures): Verdict {
  const actual = figures[metric];
  return { rule: text, actual, holds: compare(actual, operator, value) };
}

function compare(actual: number, operator: Operator, value: number): boolean {
  switch (operator) {
    case "=":
      return actual === value;
    case "!=":
      return actual !== value;
    case "<":
      return actual < value;
    case "<=":
      return actual <= value;
    case ">":
      return actual > value;
    case ">=":
      return actual >= value;
  }
}

/** `max_lateness` is 2s: a figure as people read it. */
export function formatFigure(rule: string, actual: number): string {
  const metric = FORM.exec(rule)?.[1] ?? "";
  return DURATIONS.has(metric as Metric) ? formatDuration(actual) : String(actual);
}
