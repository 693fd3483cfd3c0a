/** Sessions of planners as they are told: docs/planner.md, "A session". */
import { z } from "zod";
import { CLEAR_KINDS } from "../../planner/model.js";
import { CALL_RESULTS, OUTCOMES, SESSION_KINDS } from "../../planner/session.js";
import { endpointId } from "../endpoints/shapes.js";
import { count, listOf, time } from "../shapes/words.js";
import { FATES, SESSION_ID } from "./session-log.js";

export const sessionId = z.string().regex(SESSION_ID, "must be the id of a session");

/** One of each, with the fields of its type. */
const PROPOSAL = z.strictObject({
  type: z.enum(["interval", "oneshot", "pause_until", "clear"]),
  intervalMs: z.number().optional(),
  ttlMinutes: z.number().optional(),
  nextRunAt: time.optional(),
  until: time.optional(),
  kind: z.enum(CLEAR_KINDS).optional(),
  reason: z.string(),
});

const CALL = z.strictObject({
  name: z.string(),
  arguments: z.string(),
  result: z.enum(CALL_RESULTS),
  message: z.string(),
});

const SESSION = z.strictObject({
  v: z.literal(1),
  endpoint: endpointId,
  startedAt: time,
  durationMs: count,
  inputsHash: z.string(),
  kind: z.enum(SESSION_KINDS),
  calls: listOf(CALL),
  tokens: z.strictObject({ used: count, isEstimated: z.boolean() }),
  proposals: listOf(PROPOSAL),
  outcome: z.strictObject({ code: z.enum(OUTCOMES), message: z.string() }),
  nextAnalysisAt: time,
});

/** What was proposed, and what became of it. */
const FATE = z.strictObject({ result: z.enum(FATES), message: z.string() });

/** `planner:rules` or `planner:MODEL`. */
const by = z.string();
/** The situation, as the planner was told it. */
const inputs = z.record(z.string(), z.unknown());

export const TRIED = z.strictObject({ by, session: SESSION, inputs });
export type TriedAnswer = z.output<typeof TRIED>;

export const SESSION_ROW = z.strictObject({ id: sessionId, by, session: SESSION, fates: listOf(FATE) });
export type SessionRow = z.output<typeof SESSION_ROW>;

export const SESSION_DETAIL = SESSION_ROW.extend({ inputs });
export type SessionDetail = z.output<typeof SESSION_DETAIL>;
