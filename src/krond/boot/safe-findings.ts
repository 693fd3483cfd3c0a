/**
 * Findings in the configuration as they may stand in a journal, which more people read than the files themselves: never a
 * line of a file, and words only where they cannot quote an environment, a header, an input or a command.
 */
import { type ErrorCode, errorKind } from "../../core/base/errors/registry.js";
import type { Problem } from "../../core/base/problem.js";
import type { ConfigFinding } from "../../persist/config-files.js";

/** Below these fields lie values that are nobody else's business, whether of a job or of the defaults. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(["env", "stdin", "command", "http"]);

/** They speak of a file or a job as a whole, in words of ours. */
const OWN_WORDS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "config-unreadable",
  "config-untrusted",
  "limit-exceeded",
  "field-missing",
  "identity-duplicate",
  "address-forbidden",
]);

export function safeFinding({ located }: ConfigFinding): ConfigFinding {
  return { located: { ...located, problem: safeProblem(located.problem) }, sourceLine: null };
}

/** Where its words may quote what is written there, the meaning of its code has to do; its place tells the rest. */
function safeProblem(problem: Problem): Problem {
  const { code, path } = problem;
  const secretAt = path.findIndex((key) => typeof key === "string" && SECRET_FIELDS.has(key));
  if (OWN_WORDS.has(code) || (path.length > 0 && secretAt < 0)) return problem;
  return { code, message: errorKind(code).meaning, path: path.slice(0, toldLength(path, secretAt)) };
}

/** Names of variables and headers too may be values that went astray; the fields of a request are ours. */
function toldLength(path: Problem["path"], secretAt: number): number {
  return secretAt < 0 ? path.length : secretAt + (path[secretAt] === "http" ? 2 : 1);
}
