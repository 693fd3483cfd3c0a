import type { ErrorCode } from "./errors/registry.js";

/** Where inside the offending text the trouble is, as offsets in UTF-16 units: `[start, end)`. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * One thing that is wrong with an input. Readers collect problems instead of stopping at the first, so that a person
 * sees all of them at once. The category (ConfigurationError, ValidationError, ConstraintError) follows from the code:
 * see the registry.
 */
export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
  /** Keys from the outermost value to the offending one; empty for a bare text such as one cron expression. */
  readonly path: readonly (string | number)[];
  /** Set when the offending value is a text and only a part of it is wrong. */
  readonly span?: TextSpan;
  /** What to write instead. */
  readonly hint?: string;
}

/** The same problem seen from one level further out. */
export function problemAt(problem: Problem, ...prefix: readonly (string | number)[]): Problem {
  return { ...problem, path: [...prefix, ...problem.path] };
}
