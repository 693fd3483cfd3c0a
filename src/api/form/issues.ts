/** What is wrong with an input, field by field, from what the schema says of it. */
import { z } from "zod";
import { nearest } from "../../core/job/suggest.js";
import { type FieldError, type HttpProblem, pointerOf, wrongFields } from "../http/problem.js";
import { unwrapped } from "./unwrapped.js";

type Issue = z.core.$ZodIssue;

/** Told of one request. */
export const MOST_ERRORS = 50;

/** `schema`: what it was read by. */
export function inputProblem(issues: readonly Issue[], schema: z.ZodType): HttpProblem {
  return wrongFields(issues.flatMap((issue) => errorsOf(issue, schema)).slice(0, MOST_ERRORS));
}

function errorsOf(issue: Issue, schema: z.ZodType): readonly FieldError[] {
  if (issue.code === "unrecognized_keys") {
    const known = fieldsAt(schema, issue.path);
    return issue.keys.map((key) => unknownField(pointerOf([...issue.path, key]), key, known));
  }
  return [{ pointer: pointerOf(issue.path), code: codeOf(issue), message: messageOf(issue) }];
}

function codeOf(issue: Issue): string {
  if (issue.code !== "invalid_type" && issue.code !== "invalid_union") return "field-value";
  return issue.input === undefined ? "field-missing" : "field-type";
}

/** Where the kind of value says which of several was meant, what that one lacks. */
function messageOf(issue: Issue): string {
  if (issue.code !== "invalid_union") return issue.message;
  const within = issue.errors.filter((branch) => branch.every(({ path, code }) => path.length > 0 || isOfFields(code)));
  const [meant] = within.toSorted((one, other) => one.length - other.length);
  return meant === undefined ? issue.message : meant.map(toldWithin).join("; ");
}

function isOfFields(code: Issue["code"]): boolean {
  return code === "unrecognized_keys";
}

function toldWithin(issue: Issue): string {
  if (issue.code === "unrecognized_keys") return `has no field ${issue.keys.join(", ")}`;
  return `${issue.path.join(".")} ${messageOf(issue)}`;
}

/** `known`: what there is in its place. */
export function unknownField(pointer: string, name: string, known: readonly string[]): FieldError {
  const near = nearest(name, known);
  const hint = near === undefined ? `there are ${known.join(", ")}` : `did you mean ${near}?`;
  return { pointer, code: "field-unknown", message: "no such field", ...(known.length === 0 ? {} : { hint }) };
}

function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const at = path.reduce<z.ZodType | undefined>((outer, step) => memberOf(outer, step), schema);
  const inner = at === undefined ? undefined : unwrapped(at);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function memberOf(outer: z.ZodType | undefined, step: PropertyKey): z.ZodType | undefined {
  const schema = outer === undefined ? undefined : unwrapped(outer);
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  return schema instanceof z.ZodObject ? (schema.shape[String(step)] as z.ZodType | undefined) : undefined;
}
