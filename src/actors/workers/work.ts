/** What a worker is given of a run that it carries out, and what it says of it; and where it comes for that. */
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import { headersOf } from "../dispatcher/message.js";
import type { RequestArm } from "../dispatcher/port.js";
import { isSealed } from "../dispatcher/seal.js";

/** A run that somebody has taken. */
export interface Work {
  readonly claimId: string;
  /** null: a job of the configuration. */
  readonly jobId: string | null;
  readonly endpointId: string | null;
  readonly identity: string;
  readonly scheduledFor: string;
  /** From then on it has ended without an answer. */
  readonly until: string;
  readonly request: {
    readonly url: string;
    readonly method: string;
    /** Those that Kron adds are among them, `Idempotency-Key` first of all. */
    readonly headers: Readonly<Record<string, string>>;
    /** Names of those whose values the worker has to know itself. */
    readonly secretHeaders: readonly string[];
    readonly body: string | null;
    readonly timeoutMs: number;
  };
}

/** How it ended, in the words of whoever carried it out. */
export type WorkResult =
  | { readonly kind: "answered"; readonly status: number; readonly bytes: number; readonly excerpt: string | null }
  /** `isSent` false: not one byte of the request was sent. */
  | { readonly kind: "failed"; readonly detail: string; readonly isSent: boolean };

export interface Workers {
  /**
   * At most `limit` runs that are due, at once where there are any, and within `withinMs` where one becomes due. Whoever has
   * `gone` is given nothing. Rejects with `NoRoomToWait`.
   */
  take(tenant: string, limit: number, withinMs: number, gone?: AbortSignal): Promise<readonly Work[]>;
  /** False: nobody has taken it, or it has ended. */
  complete(tenant: string, claimId: string, result: WorkResult): boolean | Promise<boolean>;
}

/** Nothing that is secret is among it. */
export function workOf(request: RequestArm, untilAt: EpochMs): Work {
  const { identity, attemptId, scheduledFor, target } = request;
  const { jobId = null, endpointId = null } = endpointName(identity) ?? {};
  const { url, method, body, timeoutMs, secretHeaders } = target;
  const entries = Object.entries(target.headers);
  const headers = Object.fromEntries(entries.filter(([, value]) => !isSealed(value)));
  const sealed = entries.flatMap(([name, value]) => (isSealed(value) ? [name] : []));
  return {
    claimId: attemptId,
    jobId,
    endpointId,
    identity,
    scheduledFor,
    until: formatInstant(untilAt),
    request: {
      url,
      method,
      headers: headersOf({ ...request, target: { ...target, headers } }, {}),
      secretHeaders: [...sealed, ...Object.keys(secretHeaders)],
      body,
      timeoutMs,
    },
  };
}
