/** What every error line carries, in the words of the error model. */

import type { Problem } from "../problem.js";
import { type ErrorComponent, KronError } from "./kron-error.js";
import { messageOf } from "./message.js";
import { type ErrorCategory, type ErrorCode, type ErrorKind, errorKind, type LogLevel } from "./registry.js";

/** `identity` and `period_id` are null where the trouble belongs to no job or no period: the keys are always there. */
interface ErrorFields {
  readonly identity: string | null;
  readonly period_id: string | null;
  readonly component: ErrorComponent;
  readonly error_type: ErrorCategory;
  readonly operation: string;
  readonly message: string;
  readonly error_code: ErrorCode;
  readonly fatal: boolean;
}

/** Where the line is written from; an error that knows better wins. */
export interface ErrorContext {
  readonly component: ErrorComponent;
  readonly operation: string;
  readonly identity?: string | undefined;
  readonly periodId?: string | undefined;
}

/** Anything that was thrown, as the fields of its log line. What is no KronError is a broken invariant. */
export function errorFields(error: unknown, context: ErrorContext): ErrorFields {
  if (!(error instanceof KronError)) {
    return fieldsOf("invariant-broken", context, messageOf(error));
  }
  const where: ErrorContext = {
    component: error.component,
    operation: error.operation,
    identity: error.identity ?? context.identity,
    periodId: error.periodId ?? context.periodId,
  };
  return fieldsOf(error.code, where, withCause(error));
}

/** Bad input, as the fields of its log line. */
export function problemFields(problem: Problem, context: ErrorContext): ErrorFields {
  const path = problem.path.join(".");
  return fieldsOf(problem.code, context, path === "" ? problem.message : `${path}: ${problem.message}`);
}

export function errorLevel(error: unknown): LogLevel {
  return error instanceof KronError ? errorKind(error.code).level : "error";
}

function fieldsOf(code: ErrorCode, context: ErrorContext, message: string): ErrorFields {
  const kind: ErrorKind = errorKind(code);
  return {
    identity: context.identity ?? null,
    period_id: context.periodId ?? null,
    component: context.component,
    error_type: kind.category,
    operation: context.operation,
    message,
    error_code: code,
    fatal: kind.fatal,
  };
}

/** Many a message says already what the system said. */
function withCause({ message, cause }: KronError): string {
  if (cause === undefined) return message;
  const said = messageOf(cause);
  return message.includes(said) ? message : `${message}: ${said}`;
}
