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
  /** Something went wrong; whether that ends the daemon is for the registry to say, or for the phase. */
  | { readonly type: "FAILED"; readonly code: ErrorCode }
  | { readonly type: "RELOAD" }
  | { readonly type: "RELOADED" }
  /** The new configuration is not valid; the old one stays in force (S35). */
  | { readonly type: "REJECTED" }
  /** `waitsForRuns`: graceful: also wait for what runs. Otherwise jobs outlive the daemon (S29). */
  | { readonly type: "DRAIN"; readonly waitsForRuns: boolean }
  | { readonly type: "DRAINED" }
  /** A second request to stop: now. */
  | { readonly type: "STOP" };

export const FIRST: SupervisorContext = { code: null, waitsForRuns: false };

export function takeCode(event: SupervisorEvent): Partial<SupervisorContext> {
  return event.type === "FAILED" ? { code: event.code } : {};
}

export function takeDrain(event: SupervisorEvent): Partial<SupervisorContext> {
  return event.type === "DRAIN" ? { waitsForRuns: event.waitsForRuns } : {};
}

/** ERROR-MODEL: after a fatal error nothing may be scheduled any more. */
export function isFatal(event: SupervisorEvent): boolean {
  return event.type === "FAILED" && errorKind(event.code).fatal;
}

/** Of the process: 0 unless it failed. */
export function exitStatus({ code }: SupervisorContext): number {
  return code === null ? 0 : exitStatusOf(code);
}
