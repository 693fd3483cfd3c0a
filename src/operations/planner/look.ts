/**
 * One look at an endpoint: what it is about, what the planner proposes, what becomes of it. Trying it ends before the record;
 * the daemon's own look writes down what is proposed before it carries it out, in the same way as a person's wish.
 */
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import { type EpochMs, MINUTE_MS } from "../../core/time/instant.js";
import { hasEvidence } from "../../planner/evidence.js";
import { PLANNER_LIMITS } from "../../planner/limits.js";
import type { Proposal, Situation } from "../../planner/model.js";
import { RULES_PLANNER } from "../../planner/rules.js";
import { mayAnalyse, type Session, type SessionKind } from "../../planner/session.js";
import { situationText } from "../../planner/situation.js";
import { type EndpointRecord, readEndpoint } from "../endpoints/records.js";
import { type Author, cleared, hinted, hold, letGo } from "../endpoints/wanted.js";
import { OperationError } from "../operation.js";
import type { Acting } from "../ports.js";
import { budgetOf } from "./budget.js";
import { authorOfSession, planningKind } from "./planners.js";
import type { Fate, SessionRecord } from "./session-log.js";
import { situationOf } from "./situation.js";

interface Looked {
  readonly by: string;
  readonly session: Session;
  readonly situation: Situation;
}

/** What would be proposed now, whether it is time for it or not; nothing is changed but what the model has used. */
export async function lookOnce(
  ports: Acting,
  tenant: string,
  endpoint: EndpointRecord,
  kind: SessionKind,
): Promise<Looked> {
  return looked(ports, tenant, kind, await situationOf(ports, tenant, endpoint, kind));
}

/** When it may be looked at again; null: not before somebody changes it. */
export async function lookAt(ports: Acting, identity: string): Promise<EpochMs | null> {
  const name = endpointName(identity);
  if (name === null) return null;
  const { tenant, endpointId } = name;
  const endpoint = await readEndpoint(ports.reader, tenant, endpointId);
  const kind = endpoint === null ? null : planningKind(ports.planners, endpoint.spec.planner);
  if (endpoint === null || kind === null) return null;
  const { planners } = ports;
  const now = ports.now();
  const last = (await planners.sessions.newest(ports.reader, tenant, endpointId))?.session ?? null;
  if (last !== null && !mayAnalyse(last, now)) return last.nextAnalysisAt;
  const situation = await situationOf(ports, tenant, endpoint, kind);
  if (!hasEvidence(situation)) return now + PLANNER_LIMITS.nothingFoundMs;
  const found = await looked(ports, tenant, kind, situation);
  const { session } = found;
  if (session.outcome.code === "cancelled") return now + MINUTE_MS;
  // The rules cost nothing: that they find nothing is no session, and their next look need not wait.
  if (kind === "rules" && session.proposals.length === 0) return now + PLANNER_LIMITS.nothingFoundMs;
  planners.told(identity, await putInForce(ports, tenant, found));
  return session.nextAnalysisAt;
}

async function looked(ports: Acting, tenant: string, kind: SessionKind, situation: Situation): Promise<Looked> {
  const { planners, quotas } = ports;
  const planner = kind === "chat" ? (planners.chat?.planner ?? RULES_PLANNER) : RULES_PLANNER;
  const session = await planner.propose(situation, { signal: planners.signal, budget: budgetOf(quotas, tenant) });
  return { by: authorOfSession(planners, session.kind), session, situation };
}

async function putInForce(ports: Acting, tenant: string, { by, session, situation }: Looked): Promise<SessionRecord> {
  const { reader, planners } = ports;
  const { sessions } = planners;
  const fates = session.proposals.map((): Fate => ({ result: "pending", message: "" }));
  const inputs: unknown = JSON.parse(situationText(situation));
  const { bootedAt } = ports.supervisor.status();
  const record: SessionRecord = { id: sessions.newIdAt(ports.now()), by, session, fates, inputs, bootedAt };
  const write: Acting["write"] = (objects) => ports.write(objects);
  await sessions.add(reader, write, tenant, record);
  if (fates.length === 0) return record;
  for (const [at, proposal] of session.proposals.entries()) {
    // What is on record as pending is not tried by the next daemon: nobody knows how old it is by then.
    if (planners.signal.aborted) return record;
    fates[at] = await fateOf(ports, { tenant, by }, session.endpoint, proposal);
  }
  await sessions.change(write, tenant, { ...record, fates });
  return { ...record, fates };
}

/** The model may have taken a minute: what the endpoint is by now decides. */
async function fateOf(ports: Acting, author: Author, endpointId: string, proposal: Proposal): Promise<Fate> {
  const endpoint = await readEndpoint(ports.reader, author.tenant, endpointId);
  if (endpoint === null) return { result: "refused", message: "it is gone" };
  if (planningKind(ports.planners, endpoint.spec.planner) === null) {
    return { result: "refused", message: "nobody is to plan for it any more" };
  }
  try {
    await carryOut(ports, author, endpoint, proposal);
    return { result: "applied", message: "" };
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    return { result: "refused", message: error.message };
  }
}

async function carryOut(ports: Acting, author: Author, endpoint: EndpointRecord, proposal: Proposal): Promise<void> {
  const { reason } = proposal;
  switch (proposal.type) {
    case "interval":
      await hinted(ports, author, endpoint, {
        intervalMs: proposal.intervalMs,
        ttlMs: proposal.ttlMinutes * MINUTE_MS,
        reason,
      });
      return;
    case "oneshot":
      await hinted(ports, author, endpoint, {
        nextRunAt: proposal.nextRunAt,
        ttlMs: proposal.ttlMinutes * MINUTE_MS,
        reason,
      });
      return;
    case "pause_until":
      await hold(ports, author, endpoint, proposal.until, reason);
      return;
    case "clear":
      if (proposal.kind === "pause") await letGo(ports, author, endpoint);
      else await cleared(ports, author, endpoint, proposal.kind);
      return;
  }
}
