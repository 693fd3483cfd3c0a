/** Reads a scenario file: text in, a scenario or problems with their places out. */

import { type Problem, problemAt } from "../core/base/problem.js";
import type { Result } from "../core/base/result.js";
import { byPlace, LineIndex, type LocatedProblem, type Stretch } from "../core/config/located.js";
import { yamlFile } from "../core/config/yaml/pieces.js";
import { placeOfProblem } from "../core/config/yaml/places.js";
import { syntaxProblems } from "../core/config/yaml/syntax.js";
import { type PlacedNode, YamlValues } from "../core/config/yaml/values.js";
import { problemsOfIssues } from "../core/job/issues.js";
import { parseInstant } from "../core/time/instant.js";
import { parseExpectation } from "./expectations.js";
import type { Scenario } from "./scenario.js";
import { type RawScenario, SCENARIO_SHAPE } from "./scenario-shape.js";
import { readAct, readRun } from "./scenario-values.js";
import { parseSpan } from "./span.js";

interface ScenarioReading {
  /** null when anything is wrong. */
  readonly scenario: Scenario | null;
  readonly problems: readonly LocatedProblem[];
}

export const SCENARIO_BYTES = 1024 * 1024;
const NOWHERE: Stretch = { start: 0, end: 1 };

export function readScenario(file: string, text: string): ScenarioReading {
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  const lines = new LineIndex(source);
  const problems: LocatedProblem[] = [];
  const add = (problem: Problem, stretch: Stretch): void => {
    problems.push({ problem, file, identity: null, ...lines.placeOf(stretch) });
  };
  const { frame } = yamlFile(source, Number.POSITIVE_INFINITY);
  const root = frame?.root ?? null;
  const syntax = frame === null ? [] : syntaxProblems(frame, source, lines);
  for (const { problem, start, end } of syntax) add(problem, { start, end });
  if (frame === null || root === null) {
    if (syntax.length === 0) add({ code: "file-syntax", message: "the file is empty", path: [] }, NOWHERE);
    return { scenario: null, problems };
  }
  const values = new YamlValues();
  const raw = values.valueOf(frame, root);
  for (const { problem, start, end } of values.problems) add(problem, { start, end });
  const told = new Set(values.problems.map(({ start }) => start));
  const placed: PlacedNode = { node: root, piece: frame };
  const read = scenarioOf(raw);
  for (const problem of read.problems) {
    const stretch = placeOfProblem(problem, placed, values, source);
    if (!told.has(stretch.start)) add(problem, stretch);
  }
  return { scenario: problems.length === 0 ? read.scenario : null, problems: problems.sort(byPlace) };
}

interface Read {
  readonly scenario: Scenario | null;
  readonly problems: readonly Problem[];
}

function scenarioOf(raw: unknown): Read {
  const shaped = SCENARIO_SHAPE.safeParse(raw);
  if (!shaped.success) {
    const problems = problemsOfIssues(shaped.error.issues, raw, SCENARIO_SHAPE);
    return { scenario: null, problems: problems.map(withQuotesHint) };
  }
  const problems: Problem[] = [];
  const scenario = readShaped(shaped.data, problems);
  return { scenario: problems.length === 0 ? scenario : null, problems };
}

/** `{ duration: normal(30s, 5s) }` is two fields for YAML. */
function withQuotesHint(problem: Problem): Problem {
  const isRest = problem.code === "field-unknown" && String(problem.path.at(-1)).endsWith(")");
  return isRest ? { ...problem, hint: "inside { } a value with a comma needs quotes" } : problem;
}

function readShaped(raw: RawScenario, problems: Problem[]): Scenario {
  const read = <T>(field: "from" | "to" | "horizon", parse: (text: string) => Result<T, Problem>): T | null => {
    const text = raw[field];
    if (text === undefined) return null;
    const value = parse(text);
    if (!value.ok) problems.push(problemAt(value.error, field));
    return value.ok ? value.value : null;
  };
  if (raw.to !== undefined && raw.horizon !== undefined) {
    problems.push({ code: "field-conflict", message: "write to or horizon, not both", path: ["horizon"] });
  }
  return {
    from: read("from", parseInstant),
    to: read("to", parseInstant),
    horizonMs: read("horizon", parseSpan),
    seed: raw.seed === undefined ? null : String(raw.seed),
    rules: each(raw.runs, "runs", readRun, problems),
    acts: each(raw.events, "events", readAct, problems),
    expectations: each(raw.expect, "expect", one(parseExpectation), problems),
  };
}

type Several<R, T> = (raw: R) => Result<T, readonly Problem[]>;

function one<R, T>(parse: (raw: R) => Result<T, Problem>): Several<R, T> {
  return (raw) => {
    const value = parse(raw);
    return value.ok ? value : { ok: false, error: [value.error] };
  };
}

function each<R, T>(raws: readonly R[] | undefined, field: string, read: Several<R, T>, problems: Problem[]): T[] {
  return (raws ?? []).flatMap((raw, index) => {
    const value = read(raw);
    if (value.ok) return [value.value];
    problems.push(...value.error.map((problem) => problemAt(problem, field, index)));
    return [];
  });
}
