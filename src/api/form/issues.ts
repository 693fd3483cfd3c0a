/** What is wrong with an input, field by field, from what the schema says of it. */
import type { z } from "zod";
import { type FieldError, HttpProblem, pointerOf } from "../http/problem.js";

type Issue = z.core.$ZodIssue;

const MOST = 50;

export function inputProblem(issues: readonly Issue[]): HttpProblem {
  const errors = issues.flatMap(errorsOf).slice(0, MOST);
  const [first] = errors;
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : "";
  return new HttpProblem("input-invalid", `${first?.pointer ?? ""}: ${first?.message ?? ""}${more}`, { errors });
}

function errorsOf(issue: Issue): readonly FieldError[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      return { pointer: pointerOf([...issue.path, key]), code: "field-unknown", message: "no such field" };
    });
  }
  return [{ pointer: pointerOf(issue.path), code: codeOf(issue), message: issue.message }];
}

function codeOf(issue: Issue): string {
  if (issue.code === "invalid_type")
    return issue.message.endsWith("received undefined") ? "field-missing" : "field-type";
  return issue.code === "invalid_union" ? "field-type" : "field-value";
}
