/** What may be done to one endpoint beside changing it: hold it, or let it run otherwise for a while. */
import { z } from "zod";
import { endpointIdentity } from "../../core/endpoint/endpoint-name.js";
import { HINT_KINDS } from "../../core/governor/hint.js";
import { type EpochMs, formatInstant, MINUTE_MS } from "../../core/time/instant.js";
import { type Caller, OperationError, tenantOperation } from "../operation.js";
import type { Acting } from "../ports.js";
import { dryRun } from "../rehearsal.js";
import { time } from "../shapes/words.js";
import { answerOf } from "./answers.js";
import { endpointOf } from "./change.js";
import { type EndpointRecord, identityIn } from "./records.js";
import { ENDPOINT_ANSWER, type EndpointAnswer, endpointId, HINTS_ANSWERED } from "./shapes.js";
import { isUnreadable, nameOfEndpoint } from "./unreadable.js";
import {
  authorOf,
  cleared,
  hinted,
  hold,
  instantAt,
  letGo,
  pauseEndAt,
  wouldBeCleared,
  wouldBeHinted,
} from "./wanted.js";

/** Said, also where it is null: whoever leaves it out of a pause does not mean that the endpoint should go on. */
const saidPause = z.union([time, z.null()]);
const reason = z.string().max(1_000).default("");
const HINTS_PATH = "/endpoints/:endpointId/hints";

export const PAUSE_ENDPOINT = tenantOperation({
  name: "endpoints.pause",
  summary: "starts nothing of an endpoint until then; null lets it go on",
  http: { method: "POST", path: "/endpoints/:endpointId/pause", query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ endpointId, pausedUntil: saidPause, reason, dryRun }),
  output: ENDPOINT_ANSWER,
  run: async (request, ports, caller) => {
    const { tenant } = caller;
    const { pausedUntil, reason: why } = request;
    const endpoint = await endpointOf(ports, tenant, request.endpointId).catch(async (error: unknown) => {
      if (isUnreadable(error) && !request.dryRun) await holdUnread(ports, caller, request);
      throw error;
    });
    if (pausedUntil === null) mustNotHaveEnded(ports, endpoint);
    const untilAt = pausedUntil === null ? null : pauseEndAt(pausedUntil, ports);
    const author = authorOf(caller);
    if (request.dryRun) {
      const answer = await answerOf(ports, tenant, endpoint);
      return untilAt === null ? wouldGoOn(answer) : wouldBeHeld(answer, author, untilAt, why);
    }
    if (untilAt === null) await letGo(ports, author, endpoint);
    else await hold(ports, author, endpoint, untilAt, why);
    return answerOf(ports, tenant, endpoint);
  },
});

/** When it would run next only its machines can tell. */
function wouldGoOn(answer: EndpointAnswer): EndpointAnswer {
  if (answer.status !== "paused") return answer;
  const unknown = { nextRunAt: null, nextSource: null };
  return { ...answer, status: "active", pausedUntil: null, pauseReason: null, pausedBy: null, ...unknown };
}

function wouldBeHeld(
  answer: EndpointAnswer,
  { by = null }: { readonly by?: string | null },
  untilAt: EpochMs,
  pauseReason: string,
): EndpointAnswer {
  const pausedUntil = formatInstant(untilAt);
  const next = { nextRunAt: pausedUntil, nextSource: "paused" } as const;
  const status = answer.status === "held" ? answer.status : "paused";
  return { ...answer, status, pausedUntil, pauseReason, pausedBy: by, ...next };
}

/** It can be held; what it is nobody can be told, and that is what is answered. */
async function holdUnread(
  ports: Acting,
  caller: Caller,
  { endpointId: id, pausedUntil, reason: why }: { endpointId: string; pausedUntil: string | null; reason: string },
): Promise<void> {
  const { tenant, by } = authorOf(caller);
  const name = await nameOfEndpoint(ports.reader, tenant, id);
  if (name === null) return;
  const identity = endpointIdentity(name);
  if (pausedUntil === null) await ports.supervisor.resume(identity, by);
  else await ports.supervisor.pause(identity, pauseEndAt(pausedUntil, ports), why, false, by);
}

/** S51: it would be paused again at once. */
function mustNotHaveEnded({ now }: Acting, { spec: { endAt } }: EndpointRecord): void {
  if (endAt === null || Date.parse(endAt) > now()) return;
  throw new OperationError("refused", `it has ended at ${endAt}`, "set endAt to a later time, or to null, first");
}

export const RESUME_ENDPOINT = tenantOperation({
  name: "endpoints.resume",
  summary: "lets a paused endpoint go on",
  http: { method: "POST", path: "/endpoints/:endpointId/resume", query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ endpointId, dryRun }),
  output: ENDPOINT_ANSWER,
  run: async (request, ports, { tenant }) => {
    const endpoint = await endpointOf(ports, tenant, request.endpointId);
    mustNotHaveEnded(ports, endpoint);
    if (request.dryRun) return wouldGoOn(await answerOf(ports, tenant, endpoint));
    await ports.supervisor.resume(identityIn(tenant, endpoint));
    return answerOf(ports, tenant, endpoint);
  },
});

export const HINT_INTERVAL = tenantOperation({
  name: "endpoints.hint_interval",
  summary: "lets an endpoint run at another interval for a while",
  http: { method: "PUT", path: `${HINTS_PATH}/interval`, query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ endpointId, intervalMs: z.number(), ttlMinutes: z.number(), reason, dryRun }),
  output: HINTS_ANSWERED,
  run: async ({ ttlMinutes, intervalMs, reason: why, ...of }, ports, caller) => {
    const endpoint = await endpointOf(ports, caller.tenant, of.endpointId);
    const wish = { intervalMs, ttlMs: Math.round(ttlMinutes * MINUTE_MS), reason: why };
    return (of.dryRun ? wouldBeHinted : hinted)(ports, authorOf(caller), endpoint, wish);
  },
});

export const HINT_ONESHOT = tenantOperation({
  name: "endpoints.hint_oneshot",
  summary: "lets an endpoint run once, at an instant of its own",
  http: { method: "PUT", path: `${HINTS_PATH}/oneshot`, query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({
    endpointId,
    nextRunAt: time,
    ttlMinutes: z.number().nullable().default(null),
    reason,
    dryRun,
  }),
  output: HINTS_ANSWERED,
  run: async ({ ttlMinutes, nextRunAt, reason: why, ...of }, ports, caller) => {
    const endpoint = await endpointOf(ports, caller.tenant, of.endpointId);
    const ttlMs = ttlMinutes === null ? null : Math.round(ttlMinutes * MINUTE_MS);
    const wish = { nextRunAt: instantAt(nextRunAt, "nextRunAt"), ttlMs, reason: why };
    return (of.dryRun ? wouldBeHinted : hinted)(ports, authorOf(caller), endpoint, wish);
  },
});

export const CLEAR_HINTS = tenantOperation({
  name: "endpoints.clear_hints",
  summary: "takes hints of an endpoint back",
  http: { method: "DELETE", path: HINTS_PATH },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ endpointId, kind: z.enum(["all", ...HINT_KINDS]).default("all"), dryRun }),
  output: HINTS_ANSWERED,
  run: async (request, ports, { tenant }) => {
    const endpoint = await endpointOf(ports, tenant, request.endpointId);
    return (request.dryRun ? wouldBeCleared : cleared)(ports, { tenant }, endpoint, request.kind);
  },
});
