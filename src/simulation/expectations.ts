/** Rules that a simulation has to keep, such as `missed=0` or `peak<=50`: their text, and the verdict. */

import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import { didYouMean } from "../core/job/suggest.js";
import { formatDuration } from "../core/time/duration.js";
import { type Figures, METRICS, type Metric } from "./metrics.js";
import { parseSpan } from "./span.js";

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
