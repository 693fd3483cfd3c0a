/**
 * Runs that workers of a tenant carry out themselves: they come for what is due, have it alone, and say how it ended. A claim
 * is on record before anybody has it; nobody is given what somebody else was.
 */
import { z } from "zod";
import { NoRoomToWait } from "../../actors/waiting-room.js";
import { claimId, WORK, type WorkResult } from "../../actors/workers/work.js";
import { LIMITS } from "../../core/base/limits.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { OperationError, tenantOperation } from "../operation.js";
import { listOf } from "../shapes/words.js";

/** As long as one request may wait for something to become due. */
const MOST_WAITED_MS = 20_000;
const MOST_AT_ONCE = 1_000;
const DETAIL_CHARS = 200;

export const CLAIM_DUE_ENDPOINTS = tenantOperation({
  name: "claims.take",
  summary: "claims runs that are due and that workers carry out, each for one worker alone",
  http: { method: "POST", path: "/claims" },
  isForWorkers: true,
  audited: "never",
  access: "operate",
  // A run that is claimed goes on while the daemon drains: nobody begins it by coming for it.
  beginsSomething: false,
  input: z.strictObject({
    limit: z.int().min(1).max(MOST_AT_ONCE).default(10),
    /** What becomes due within this time is waited for; nothing is begun before its instant. */
    withinMs: z.int().min(0).max(MOST_WAITED_MS).default(5_000),
  }),
  output: z.strictObject({ rows: listOf(WORK) }),
  run: async ({ limit, withinMs }, { workers }, { tenant, gone }) => {
    const rows = await workers.take(tenant, limit, withinMs, gone).catch((error: unknown) => {
      throw error instanceof NoRoomToWait ? tooManyWait(error) : error;
    });
    return { rows };
  },
});

export const COMPLETE_CLAIM = tenantOperation({
  name: "claims.complete",
  summary: "says how a claimed run has ended: with the status of its answer, or with what went wrong",
  http: { method: "POST", path: "/claims/:claimId/complete" },
  isForWorkers: true,
  audited: "never",
  access: "operate",
  beginsSomething: false,
  input: z.strictObject({
    claimId,
    /** Of the answer; whether it counts as success the endpoint says. */
    httpStatus: z.int().min(100).max(599).nullable().default(null),
    responseBytes: z.int().min(0).nullable().default(null),
    responseExcerpt: z.string().max(LIMITS.excerptBytes).nullable().default(null),
    /** Why there is no answer. */
    error: z.string().min(1).max(DETAIL_CHARS).nullable().default(null),
    /** false: not one byte of the request was sent. */
    wasSent: z.boolean().default(true),
  }),
  output: z.strictObject({ claimId }),
  run: async ({ claimId: id, ...said }, { workers }, { tenant }) => {
    if (!(await workers.complete(tenant, id, resultOf(said)))) {
      const hint = "its time may be over, or the daemon was started anew: it is not given to anybody again";
      throw new OperationError("not-found", `no claim "${id}" is under way`, hint);
    }
    return { claimId: id };
  },
});

/** With `withinMs` 0 nobody waits, and what is due is given out all the same. */
function tooManyWait({ message }: NoRoomToWait): OperationError {
  const hint = "let one worker claim several runs, or ask again later";
  return new OperationError("exhausted", message, hint, { retryAfterMs: SECOND_MS });
}

interface Said {
  readonly httpStatus: number | null;
  readonly responseBytes: number | null;
  readonly responseExcerpt: string | null;
  readonly error: string | null;
  readonly wasSent: boolean;
}

function resultOf({ httpStatus, responseBytes, responseExcerpt: excerpt, error, wasSent }: Said): WorkResult {
  if ((httpStatus === null) === (error === null)) {
    const message = "a run ended with the status of an answer or with an error: one of the two";
    const problems = [{ code: "field-conflict", message, path: ["httpStatus"] }] as const;
    throw new OperationError("bad-request", message, undefined, { problems });
  }
  if (httpStatus === null) return { kind: "failed", detail: error ?? "", isSent: wasSent };
  return { kind: "answered", status: httpStatus, bytes: responseBytes ?? Buffer.byteLength(excerpt ?? ""), excerpt };
}
