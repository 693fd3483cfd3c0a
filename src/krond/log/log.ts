/** What the daemon says about itself, whatever form its lines take. */
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { type ErrorContext, errorFields, errorLevel, problemFields } from "../../core/base/errors/fields.js";
import type { ErrorComponent } from "../../core/base/errors/kron-error.js";
import type { LogLevel } from "../../core/base/errors/registry.js";
import type { Problem } from "../../core/base/problem.js";
import { type EpochMs, formatSecond } from "../../core/time/instant.js";

export interface DaemonEvent {
  readonly at: EpochMs;
  readonly event: string;
  readonly component: ErrorComponent;
  readonly level: LogLevel;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Where lines go. A line is written when the call returns: a SIGKILL must not eat it. */
export interface DaemonLog {
  supervisor(event: SupervisorEvent): void;
  daemon(event: DaemonEvent): void;
}

export function daemonFields(event: DaemonEvent): Record<string, unknown> {
  const { at, level, component, event: name, fields } = event;
  return { time: formatSecond(at), level, component, event: name, ...fields };
}

/** Anything that was thrown, with all the fields that an error line must have. */
export function errorEvent(cause: unknown, context: ErrorContext, at: EpochMs): DaemonEvent {
  const { component, ...fields } = errorFields(cause, context);
  return { at, event: "error", component, level: errorLevel(cause), fields };
}

/** The last line before the exit, whatever the error says of itself. */
export function fatalEvent(cause: unknown, context: ErrorContext, at: EpochMs): DaemonEvent {
  const { component, ...fields } = errorFields(cause, context);
  return { at, event: "fatal", component, level: "error", fields: { ...fields, fatal: true } };
}

/** Bad input. */
export function problemEvent(
  problem: Problem,
  context: ErrorContext,
  at: EpochMs,
  more: Readonly<Record<string, unknown>> = {},
): DaemonEvent {
  const { component, ...fields } = problemFields(problem, context);
  const hint = problem.hint === undefined ? {} : { hint: problem.hint };
  return { at, event: "error", component, level: "error", fields: { ...fields, ...more, ...hint } };
}
