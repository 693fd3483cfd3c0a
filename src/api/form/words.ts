/**
 * What a schema expects, in words of JSON for whoever has sent something else: what is allowed, and what came instead. A schema
 * that says in words of its own what is wrong is not asked here.
 */
import { z } from "zod";
import { quote } from "../../core/job/issues.js";
import { unwrapped } from "./unwrapped.js";

type RawIssue = z.core.$ZodRawIssue;

/** How everything that is asked is read. */
export const IN_WORDS = { error: wordsOf, reportInput: true } as const;

function wordsOf(issue: RawIssue): string {
  const expected = expectedOf(issue);
  return issue.input === undefined ? `is missing: it must be ${expected}` : `must be ${expected}${insteadOf(issue)}`;
}

function expectedOf(issue: RawIssue): string {
  switch (issue.code) {
    case "too_small":
      return issue.origin === "array"
        ? `a list of at least ${counted(issue.minimum, "entry", "entries")}`
        : named(issue);
    case "too_big":
      return issue.origin === "array"
        ? `a list of at most ${counted(issue.maximum, "entry", "entries")}`
        : named(issue);
    case "invalid_value":
      return choiceOf(issue.values);
    default:
      return named(issue);
  }
}

function named({ schema, inst }: RawIssue): string {
  const known = [schema, inst].find((one): one is z.ZodType => one instanceof z.ZodType);
  return known === undefined ? "what its schema says" : nameOf(known);
}

/** As it stands behind "must be". */
function nameOf(schema: z.ZodType): string {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodISODateTime)
    return "an RFC 3339 timestamp, YYYY-MM-DDTHH:MM:SSZ or with an offset in place of Z";
  if (inner instanceof z.ZodString) return `a text${lengthOf(inner)}`;
  if (inner instanceof z.ZodNumber) return `${inner.isInt ? "a whole number" : "a number"}${rangeOf(inner)}`;
  if (inner instanceof z.ZodBoolean) return "true or false";
  if (inner instanceof z.ZodNull) return "null";
  if (inner instanceof z.ZodArray) return "a list";
  if (inner instanceof z.ZodEnum) return choiceOf(inner.options);
  if (inner instanceof z.ZodLiteral) return choiceOf([...inner.values]);
  if (inner instanceof z.ZodUnion) return inner.options.map((option) => nameOf(option as z.ZodType)).join(" or ");
  if (inner instanceof z.ZodObject) return objectOf(Object.keys(inner.shape));
  return inner instanceof z.ZodRecord ? "an object" : "what its schema says";
}

/** Of more fields than that a list says less than the document of the API. */
const NAMED_FIELDS = 4;

function objectOf(fields: readonly string[]): string {
  return fields.length === 0 || fields.length > NAMED_FIELDS ? "an object" : `an object with ${fields.join(" and ")}`;
}

function choiceOf(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return texts.length === 1 ? JSON.stringify(values[0]) : `one of ${texts.join(", ")}`;
}

function lengthOf({ minLength, maxLength }: z.ZodString): string {
  const least = minLength ?? 0;
  if (maxLength === null) return least === 0 ? "" : ` of at least ${characters(least)}`;
  return least === 0 ? ` of at most ${characters(maxLength)}` : ` of ${least} to ${characters(maxLength)}`;
}

function characters(count: number): string {
  return counted(count, "character", "characters");
}

function counted(count: number | bigint, one: string, several: string): string {
  return `${count} ${Number(count) === 1 ? one : several}`;
}

function rangeOf({ minValue, maxValue }: z.ZodNumber): string {
  const least = isBound(minValue) ? minValue : null;
  const most = isBound(maxValue) ? maxValue : null;
  if (least === null) return most === null ? "" : ` of at most ${most}`;
  return most === null ? ` of at least ${least}` : ` from ${least} to ${most}`;
}

/** Those of all whole numbers say nothing. */
function isBound(value: number | null): value is number {
  return value !== null && Math.abs(value) < Number.MAX_SAFE_INTEGER;
}

function isText({ schema, inst }: RawIssue): boolean {
  return [schema, inst].some((one) => one instanceof z.ZodType && unwrapped(one) instanceof z.ZodString);
}

/** Of a text, which may be long or secret, that it is one; of what is chosen among words, which one it was. */
function insteadOf(issue: RawIssue): string {
  const { code, input } = issue;
  if (input === null) return ", not null";
  if (typeof input === "string") {
    if (code === "invalid_value") return `, not ${quote(input)}`;
    return code === "invalid_type" || code === "invalid_union" ? ", not a text" : "";
  }
  if (Array.isArray(input)) return code === "too_small" || code === "too_big" ? "" : ", not a list";
  if (typeof input === "object") return ", not an object";
  // A secret may have been written as a number.
  return isText(issue) ? `, not a ${typeof input}` : `, not ${String(input)}`;
}
