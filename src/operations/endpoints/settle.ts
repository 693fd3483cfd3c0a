/** A new endpoint, or another version of one, put in force: within its tenant's bounds, under a name of its own, where it may send. */
import type { EndpointSpec } from "../../core/endpoint/spec.js";
import { literalAddressProblems } from "../../core/job/http-address.js";
import type { ObjectWrite } from "../../persist/store.js";
import { OperationError } from "../operation.js";
import type { Acting } from "../ports.js";
import { answerOf } from "./answers.js";
import { definitionOrRefusal, inEndpointTurn, jobOf, putEndpoint, refusedFor } from "./change.js";
import { mustBeFree } from "./jobs.js";
import { type EndpointRecord, endpointWrite, memberKey, nameKey } from "./records.js";
import type { EndpointAnswer } from "./shapes.js";

/** It counts as one of the tenant from here on. What is wrong with it is told before what is in its way. */
export async function made(
  ports: Acting,
  tenant: string,
  endpoint: EndpointRecord,
  named: string,
  isRehearsal: boolean,
): Promise<EndpointAnswer> {
  const { id, jobId: of } = endpoint;
  await mustBeAllowed(ports, tenant, endpoint);
  await mustBeFree(ports, named, endpoint.spec.name);
  if (!(await ports.quotas.hasRoom(tenant))) throw await isFull(ports, tenant);
  if (isRehearsal) return rehearsed(ports, tenant, endpoint);
  const along: ObjectWrite[] = [
    endpointWrite(tenant, endpoint),
    { key: memberKey({ tenant, jobId: of, endpointId: id }), text: "" },
    { key: named, text: id },
  ];
  const isMade = await ports.quotas.addEndpoint(tenant, () =>
    inEndpointTurn(ports, tenant, id, () => putEndpoint(ports, tenant, endpoint, along)),
  );
  if (!isMade) throw await isFull(ports, tenant);
  // Its job may be leaving by now, and takes it along.
  await jobOf(ports, tenant, of);
  return answerOf(ports, tenant, endpoint);
}

export async function changed(
  ports: Acting,
  tenant: string,
  before: EndpointRecord,
  spec: EndpointSpec,
  isRehearsal: boolean,
): Promise<EndpointAnswer> {
  const endpoint = { ...before, spec, updatedAt: ports.now(), version: before.version + 1 };
  await mustBeAllowed(ports, tenant, endpoint);
  const names: ObjectWrite[] = [];
  if (spec.name !== before.spec.name) {
    const named = nameKey(tenant, before.jobId, spec.name);
    await mustBeFree(ports, named, spec.name);
    names.push({ key: nameKey(tenant, before.jobId, before.spec.name), text: null }, { key: named, text: before.id });
  }
  if (isRehearsal) return rehearsed(ports, tenant, endpoint);
  await putEndpoint(ports, tenant, endpoint, [endpointWrite(tenant, endpoint), ...names]);
  return answerOf(ports, tenant, endpoint);
}

async function isFull(ports: Acting, tenant: string): Promise<OperationError> {
  const { endpoints } = (await ports.quotas.use(tenant)).limits;
  const most = endpoints === 1 ? "1 endpoint" : `${endpoints} endpoints`;
  return new OperationError("exhausted", `the tenant has its ${most} already`, "delete one, or ask for more");
}

export async function mustBeAllowed(ports: Acting, tenant: string, endpoint: EndpointRecord): Promise<void> {
  await mustBeSlowEnough(ports, tenant, endpoint);
  mustBeReachable(ports, tenant, endpoint);
}

/** What is written is to say what will hold; those that were there before the bound are held to it without saying so. */
async function mustBeSlowEnough(ports: Acting, tenant: string, { spec }: EndpointRecord): Promise<void> {
  const { limits } = await ports.quotas.use(tenant);
  const { minIntervalMs: bound } = limits;
  if (bound === null || (spec.minIntervalMs !== null && spec.minIntervalMs >= bound)) return;
  const message = `this tenant's endpoints run no more often than every ${bound} ms`;
  const hint = `set minIntervalMs to ${bound} or more`;
  throw refusedFor([{ code: "field-range", message, path: ["minIntervalMs"], hint }]);
}

/** What can be judged before a name is looked up; the rest is, whenever a request is made ready. */
function mustBeReachable({ addresses }: Acting, tenant: string, endpoint: EndpointRecord): void {
  const definition = definitionOrRefusal(tenant, endpoint);
  const [problem] = literalAddressProblems(definition, addresses());
  if (problem === undefined) return;
  const [at, index = 0] = problem.path;
  throw refusedFor([{ ...problem, path: at === "notify" ? ["notify", index, "url"] : ["url"] }]);
}

async function rehearsed(ports: Acting, tenant: string, endpoint: EndpointRecord): Promise<EndpointAnswer> {
  const job = await jobOf(ports, tenant, endpoint.jobId);
  const answer = await answerOf(ports, tenant, endpoint);
  // Of one that is not there yet nobody knows how it stands, but for this.
  return answer.status === "held" && job.status === "active" ? { ...answer, status: "active" } : answer;
}
