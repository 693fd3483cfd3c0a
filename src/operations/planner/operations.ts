/** What may be asked of planners: what they would propose, and what became of what they have proposed. */
import { z } from "zod";
import { SESSION_KINDS, sessionFields } from "../../planner/session.js";
import { situationText } from "../../planner/situation.js";
import { endpointOf } from "../endpoints/change.js";
import { endpointId } from "../endpoints/shapes.js";
import { OperationError, tenantOperation } from "../operation.js";
import type { Acting } from "../ports.js";
import { listOf } from "../shapes/words.js";
import { lookOnce } from "./look.js";
import { planningKind } from "./planners.js";
import type { Fate, SessionRecord } from "./session-log.js";
import {
  SESSION_DETAIL,
  SESSION_ROW,
  type SessionDetail,
  type SessionRow,
  sessionId,
  TRIED,
  type TriedAnswer,
} from "./shapes.js";

/** What each row may hold of what was called is bounded, and not small. */
const MOST_ROWS = 100;

export const TRY_PLANNER = tenantOperation({
  name: "planner.try",
  summary: "what a planner would propose for an endpoint now; changes nothing, but a model uses its tenant's quota",
  http: { method: "POST", path: "/endpoints/:endpointId/planner/try" },
  reachesOut: true,
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({
    endpointId,
    planner: z
      .enum(SESSION_KINDS)
      .nullable()
      .default(null)
      .meta({ description: "null: the one of the endpoint; the rules, if it has none." }),
  }),
  output: TRIED,
  run: async ({ endpointId: of, planner }, ports, { tenant }): Promise<TriedAnswer> => {
    const endpoint = await endpointOf(ports, tenant, of);
    if (planner === "chat" && ports.planners.chat === null) {
      throw new OperationError("refused", "this daemon has no model", "krond start --planner-chat URL");
    }
    const kind = planner ?? planningKind(ports.planners, endpoint.spec.planner) ?? "rules";
    const { by, session, situation } = await lookOnce(ports, tenant, endpoint, kind);
    return { by, session: told(session), inputs: JSON.parse(situationText(situation)) as TriedAnswer["inputs"] };
  },
});

export const LIST_SESSIONS = tenantOperation({
  name: "planner.sessions",
  summary: "sessions of planners, newest first: what was proposed and what became of it",
  http: { method: "GET", path: "/planner/sessions", isPaged: true },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({
    cursor: sessionId.nullable(),
    limit: z.int().min(1).max(MOST_ROWS),
    endpointId: endpointId.optional(),
  }),
  output: z.strictObject({ rows: listOf(SESSION_ROW), next: sessionId.nullable() }),
  run: async ({ cursor: after, limit, endpointId: of = null }, ports, { tenant }) => {
    const { sessions } = ports.planners;
    const { records, next } = await sessions.list(ports.reader, tenant, { endpointId: of, after, limit });
    // Sessions stay on record when their endpoint is gone: only where there are none it must be there.
    if (of !== null && records.length === 0) await endpointOf(ports, tenant, of);
    return { rows: records.map((record) => rowOf(record, ports)), next };
  },
});

export const GET_SESSION = tenantOperation({
  name: "planner.session",
  summary: "one session of a planner, with what it was made from",
  http: { method: "GET", path: "/planner/sessions/:sessionId" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ sessionId }),
  output: SESSION_DETAIL,
  run: async ({ sessionId: id }, ports, { tenant }): Promise<SessionDetail> => {
    const record = await ports.planners.sessions.get(ports.reader, tenant, id);
    if (record === null) throw new OperationError("not-found", `no session "${id}"`);
    return { ...rowOf(record, ports), inputs: record.inputs as SessionDetail["inputs"] };
  },
});

export const PLANNER_OPERATIONS = [TRY_PLANNER, LIST_SESSIONS, GET_SESSION] as const;

function rowOf({ id, by, session, fates, bootedAt }: SessionRecord, { supervisor }: Acting): SessionRow {
  const isOver = bootedAt !== supervisor.status().bootedAt;
  return { id, by, session: told(session), fates: fates.map((fate) => (isOver ? settled(fate) : fate)) };
}

/** Whoever was about to carry it out is gone. */
function settled(fate: Fate): Fate {
  if (fate.result !== "pending") return fate;
  return { result: "unknown", message: "the daemon ended before it was known; it is not tried again" };
}

function told(session: SessionRecord["session"]): SessionRow["session"] {
  return sessionFields(session) as SessionRow["session"];
}
