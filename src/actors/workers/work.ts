/** What a worker is given of a run that it carries out, and what it says of it; and where it comes for that. */
import { z } from "zod";
import { ENDPOINT_ID, endpointName, JOB_ID } from "../../core/endpoint/endpoint-name.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import { headersOf } from "../dispatcher/message.js";
import type { RequestArm } from "../dispatcher/port.js";
import { isSealed } from "../dispatcher/seal.js";

/** Among several nodes it names the one on which the run lies. */
export const claimId = z.string().min(1).max(128);
const time = z.iso.datetime({ offset: true });

/** A run that somebody has taken. */
export const WORK = z.strictObject({
  claimId,
  /** null: a job of the configuration. */
  jobId: z.string().regex(JOB_ID).nullable(),
  endpointId: z.string().regex(ENDPOINT_ID).nullable(),
  identity: z.string(),
  scheduledFor: time,
  /** Until then it is the worker's; later it has ended as `timeout`. */
  until: time,
  request: z.strictObject({
    url: z.string(),
    method: z.string(),
    /** Those that Kron adds are among them, `Idempotency-Key` first of all. */
    headers: z.record(z.string(), z.string()),
    /** Names of those whose values the worker has to know itself. */
    secretHeaders: z.array(z.string()).readonly(),
    body: z.string().nullable(),
    timeoutMs: z.int(),
  }),
});
export type Work = z.output<typeof WORK>;

/** How it ended, in the words of whoever carried it out. */
export const WORK_RESULT = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("answered"),
    status: z.int(),
    bytes: z.int().min(0),
    excerpt: z.string().nullable(),
  }),
  /** `isSent` false: not one byte of the request was sent. */
  z.strictObject({ kind: z.literal("failed"), detail: z.string(), isSent: z.boolean() }),
]);
export type WorkResult = z.output<typeof WORK_RESULT>;

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
