/** Turns what zod says about a shape into problems in Kron's words: code, path, message, and what to write instead. */
import { z } from "zod";
import type { ErrorCode } from "../base/errors/registry.js";
import { LIMITS } from "../base/limits.js";
import type { Problem } from "../base/problem.js";
import { DISTRIBUTION_NAMES } from "../decision/distributions.js";
import { didYouMean } from "./suggest.js";

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

const EXPECTED: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a mapping",
  record: "a mapping",
  array: "a list",
};

/** The problems of `raw`, which failed `schema` with these issues; every path is exact. */
export function problemsOfIssues(issues: readonly Issue[], raw: unknown, schema: z.ZodType): Problem[] {
  return issues.slice(0, LIMITS.problemsPerJob).flatMap((issue) => problemsOfIssue(issue, raw, schema));
}

function problemsOfIssue(issue: Issue, raw: unknown, schema: z.ZodType): Problem[] {
  const path = plainPath(issue.path);
  const value = valueAt(raw, path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys
        .slice(0, LIMITS.problemsPerJob)
        .map((key) => unknownField(path, key, keysAt(schema, raw, path)));
    case "invalid_union":
      return problemsOfUnion(issue, path, value, raw, schema);
    case "invalid_type":
      return [wrongType(path, value, EXPECTED[issue.expected] ?? issue.expected)];
    case "invalid_value":
      return [wrongChoice(path, value, issue.values.map(String))];
    case "too_small":
      return [problem(path, "field-range", `${atLeast(issue)}, not ${describeValue(value)}`)];
    case "too_big":
      return [problem(path, "field-range", `${atMost(issue)}, not ${describeValue(value)}`)];
    default:
      return [problem(path, "field-type", issue.message)];
  }
}

function atLeast({ origin, minimum }: Extract<Issue, { code: "too_small" }>): string {
  return origin === "string"
    ? `must have at least ${minimum} character${minimum === 1 ? "" : "s"}`
    : `must be at least ${minimum}`;
}

function atMost({ origin, maximum }: Extract<Issue, { code: "too_big" }>): string {
  return origin === "string" ? `must have at most ${maximum} characters` : `must be at most ${maximum}`;
}

/** Of a union's branches the one that the kind of value meant; when there is none, all that would have been right. */
function problemsOfUnion(
  issue: Extract<Issue, { code: "invalid_union" }>,
  path: Path,
  value: unknown,
  raw: unknown,
  schema: z.ZodType,
): Problem[] {
  if (issue.discriminator !== undefined) return [wrongChoice(path, value, DISTRIBUTION_NAMES)];
  const meant = issue.errors.find((branch) => !branch.some((inner) => isWrongTypeHere(inner, value)));
  if (meant === undefined) {
    const expected = issue.errors
      .flat()
      .map((inner) => ("expected" in inner ? (EXPECTED[inner.expected] ?? "") : "text"));
    return [wrongType(path, value, [...new Set(expected)].join(" or "))];
  }
  return meant
    .slice(0, LIMITS.problemsPerJob)
    .flatMap((inner) => problemsOfIssue({ ...inner, path: [...path, ...inner.path] } as Issue, raw, schema));
}

/** A choice among texts fails for a mapping with "invalid_value": that too means another branch. */
function isWrongTypeHere(inner: Issue, value: unknown): boolean {
  if (inner.path.length > 0) return false;
  return inner.code === "invalid_type" || (inner.code === "invalid_value" && typeof value !== "string");
}

function unknownField(path: Path, key: string, known: readonly string[]): Problem {
  const isParameter = path[0] === "distribution";
  const where = path.length === 0 ? "" : ` in ${path.join(".")}`;
  const others = isParameter ? known.filter((name) => name !== "name") : known;
  const fallback = others.length === 0 ? undefined : `known here: ${others.join(", ")}`;
  return problem(
    [...path, key],
    isParameter ? "distribution-parameter-unknown" : "field-unknown",
    isParameter ? `unknown parameter ${quote(key)} of the distribution` : `unknown field ${quote(key)}${where}`,
    didYouMean(key, others) ?? fallback,
  );
}

function wrongType(path: Path, value: unknown, expected: string): Problem {
  if (value === undefined) return problem(path, "field-missing", `missing field ${quote(String(path.at(-1) ?? ""))}`);
  const message = `expected ${expected}, got ${describeValue(value)}`;
  const isText = /\btext\b/.test(expected) && (typeof value === "number" || typeof value === "boolean");
  return problem(path, codeOf(path, value), message, isText ? textHint(path, value) : undefined);
}

const DURATION_FIELDS =
  /^(?:duration|every|min_interval|max_interval|deadline|timeout|sigma|kill_grace|start_grace|max_age)$/;
const SIZE_FIELDS = /^(?:max|max_output)$/;

/** How to write as a text what looks like a number. */
function textHint(path: Path, value: number | boolean): string {
  const field = String(path.at(-1) ?? "");
  if (DURATION_FIELDS.test(field) && typeof value === "number") return `write ${value}s for seconds`;
  return SIZE_FIELDS.test(field) && typeof value === "number"
    ? "write it with a unit, like 10MB"
    : quotesHint(`${value}`);
}

export function quotesHint(written: string): string {
  return `write it in quotes: ${JSON.stringify(written)}`;
}

function wrongChoice(path: Path, value: unknown, choices: readonly string[]): Problem {
  if (value === undefined) return problem(path, "field-missing", `missing field ${quote(String(path.at(-1) ?? ""))}`);
  const message = `expected one of ${choices.join(", ")}, got ${describeValue(value)}`;
  const hint = typeof value === "string" ? didYouMean(value, choices) : undefined;
  return problem(path, codeOf(path, value), message, hint);
}

/** Names of distributions and seed strategies, and parameters, have codes of their own. */
function codeOf(path: Path, value: unknown): ErrorCode {
  const place = path.join(".");
  if (place === "distribution" || place === "distribution.name") {
    return typeof value === "string" ? "distribution-unknown" : "field-type";
  }
  if (path[0] === "distribution") return "distribution-parameter-invalid";
  return place === "seed.strategy" && typeof value === "string" ? "seed-strategy-unknown" : "field-type";
}

function problem(path: Path, code: ErrorCode, message: string, hint?: string): Problem {
  return { code, message, path, ...(hint === undefined ? {} : { hint }) };
}

/** The field names that would have been known at `path`. */
function keysAt(schema: z.ZodType, raw: unknown, path: Path): readonly string[] {
  const object = path.reduce<z.ZodType | undefined>(
    (at, key, depth) =>
      at === undefined ? undefined : memberOf(objectOf(at, valueAt(raw, path.slice(0, depth))), key),
    schema,
  );
  return Object.keys(objectOf(object, valueAt(raw, path))?.shape ?? {});
}

function memberOf(object: z.ZodObject | undefined, key: string | number): z.ZodType | undefined {
  return object?.shape[String(key)] as z.ZodType | undefined;
}

/** The object schema behind optionals and unions; of several alternatives the one whose `name` is the value's. */
function objectOf(schema: z.ZodType | undefined, value: unknown): z.ZodObject | undefined {
  if (schema instanceof z.ZodOptional) return objectOf(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodUnion) {
    const options = (schema.options as readonly z.ZodType[]).map((option) => objectOf(option, value));
    return options.find((option) => option !== undefined && isNamed(option, valueAt(value, ["name"])));
  }
  return schema instanceof z.ZodObject ? schema : undefined;
}

function isNamed(option: z.ZodObject, name: unknown): boolean {
  const literal = option.shape["name"];
  return !(literal instanceof z.ZodLiteral) || literal.value === name;
}

function plainPath(path: readonly PropertyKey[]): Path {
  return path.map((key) => (typeof key === "number" ? key : String(key)));
}

export function valueAt(raw: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string | number, unknown>)[key]
        : undefined,
    raw,
  );
}

/** A value as a message shows it: short, on one line, whatever it is. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? quote(value) : `the ${typeof value} ${value}`;
}

export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
