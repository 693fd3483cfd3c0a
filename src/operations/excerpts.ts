/**
 * What somebody's server has answered is shown like the output of a run: to whoever may act, and not to whoever only looks. An
 * endpoint of a tenant is a job of the host too, and its answers may say anything.
 */
import { SCOPE_FOR } from "./operation.js";
import { SCOPES, type Scope } from "./scope.js";

export function maySeeExcerpts(scope: Scope): boolean {
  return SCOPES.indexOf(scope) >= SCOPES.indexOf(SCOPE_FOR.operate);
}

/** The same answer with none in it. */
export function withoutExcerpts(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withoutExcerpts);
  if (typeof answer !== "object" || answer === null) return answer;
  const fields = Object.entries(answer).flatMap(([name, value]): [string, unknown][] => {
    if (name !== "excerpt") return [[name, withoutExcerpts(value)]];
    // An ending always has the field; a row has it where something was said; elsewhere it is a name like any other.
    if ("durationMs" in answer) return [[name, null]];
    return "duration_ms" in answer ? [] : [[name, value]];
  });
  return Object.fromEntries(fields);
}
