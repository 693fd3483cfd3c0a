/** What the supervisor chart is told and keeps. */

import { exitStatusOf } from "../core/base/errors/exit-status.js";
import { type ErrorCode, errorKind } from "../core/base/errors/registry.js";

export interface SupervisorContext {
  /** Why the daemon could not start or had to end. */
  readonly code: ErrorCode | null;
  /** Whether a drain waits for what runs, beyond the claims under way. */
  readonly waitsForRuns: boolean;
}

export type SupervisorEvent =
  | { readonly type: "CONFIGURED" }
  | { readonly type: "LOCKED" }
  | { readonly type: "OPENED" }
  | { readonly type: "RECOVERED" }
  /** Every job was told its definition, and whoever wants something of the daemon reaches it. */
  | { readonly type: "READY" }
  /** Going on is not possible, or could start something twice. */
  | { readonly type: "FAILED"; readonly code: ErrorCode }
  | { readonly type: "RELOAD" }
  /** What a reload is to put in force was read, and nothing has changed yet. */
  | { readonly type: "READ" }
  | { readonly type: "RELOADED" }
  /** Not all of the new configuration is valid (S35), or it could not be put in force; `code`: what has gone wrong. */
  | { readonly type: "REJECTED"; readonly code?: ErrorCode }
  /** `waitsForRuns`: graceful: also wait for what runs. Otherwise jobs outlive the daemon (S29). */
  | { readonly type: "DRAIN"; readonly waitsForRuns: boolean }
  | { readonly type: "DRAINED" }
  | { readonly type: "CLOSED" }
  /** A signal, or a plain request to stop: in order; the second time, at once. */
  | { readonly type: "STOP"; readonly signal?: string };

/** What the chart asks for. */
export type SupervisorEffect =
  | "readConfiguration"
  | "takeLock"
  | "openStore"
  | "recoverRuns"
  | "startScheduling"
  | "reloadConfiguration"
  | "changeDefinitions"
  | "stopScheduling"
  | "drain"
  | "halt"
  | "closeGates"
  | "closeStore"
  | "reportError"
  | "end";

export const FIRST: SupervisorContext = { code: null, waitsForRuns: false };

export function takeCode(event: SupervisorEvent): Partial<SupervisorContext> {
  return event.type === "FAILED" || event.type === "REJECTED" ? { code: event.code ?? null } : {};
}

export function takeDrain(event: SupervisorEvent): Partial<SupervisorContext> {
  return event.type === "DRAIN" ? { waitsForRuns: event.waitsForRuns } : {};
}

/** Something has gone wrong with a reload, and not with what was to be read. */
export function isBroken(event: SupervisorEvent): boolean {
  return event.type === "REJECTED" && event.code !== undefined;
}

/** ERROR-MODEL: after a fatal error nothing may be scheduled any more. */
export function isFatal(event: SupervisorEvent): boolean {
  return event.type === "REJECTED" && event.code !== undefined && errorKind(event.code).fatal;
}

/** Of the process: 0 unless it failed. */
export function exitStatus({ code }: SupervisorContext): number {
  return code === null ? 0 : exitStatusOf(code);
}
