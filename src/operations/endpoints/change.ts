/**
 * Jobs and endpoints changed: what is kept of them and what the scheduler knows of them become durable together, one endpoint
 * at a time. What holds for a whole job, or for all of a tenant, is written first and then brought to each of its endpoints, those included that were
 * being made or changed meanwhile; after a crash the next start goes on where it ended.
 */
import { z } from "zod";
import type { JobObject } from "../../actors/supervisor/write/contribution.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { type Problem, problemAt } from "../../core/base/problem.js";
import { type EndpointName, endpointIdentity } from "../../core/endpoint/endpoint-name.js";
import { goneKey } from "../../core/endpoint/gone.js";
import type { KeptNotify } from "../../core/endpoint/notify.js";
import type { QuotaLimits } from "../../core/endpoint/quota.js";
import { definitionOf, type EndpointSpec } from "../../core/endpoint/spec.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { isHeaderValue } from "../../core/job/http-reader.js";
import { storedDefinition } from "../../core/job/stored.js";
import type { ObjectWrite } from "../../persist/store.js";
import { ofTheRest } from "../half-done.js";
import { OperationError } from "../operation.js";
import type { Acting } from "../ports.js";
import {
  ALL_JOBS,
  type EndpointRecord,
  endpointKey,
  identityIn,
  isUnsettled,
  JOBS,
  type JobRecord,
  jobKey,
  jobWrite,
  memberKey,
  membersOf,
  nameKey,
  pagesUnder,
  readEndpoint,
  readJob,
  unreadable,
  unsettledJobs,
  unsettledKey,
} from "./records.js";
import { isUnreadable, namedAs } from "./unreadable.js";
import { heldTo } from "./view.js";

/** Endpoints of a job that are changed at once. */
const AT_ONCE = 64;

function noSuchJob(jobId: string): OperationError {
  return new OperationError("not-found", `no job "${jobId}"`);
}

export function noSuchEndpoint(endpointId: string): OperationError {
  return new OperationError("not-found", `no endpoint "${endpointId}"`);
}

export async function jobOf(ports: Acting, tenant: string, jobId: string): Promise<JobRecord> {
  const job = await readJob(ports.reader, tenant, jobId);
  if (job === null || job.isLeaving) throw noSuchJob(jobId);
  return job;
}

export async function endpointOf(ports: Acting, tenant: string, endpointId: string): Promise<EndpointRecord> {
  const endpoint = await readEndpoint(ports.reader, tenant, endpointId);
  if (endpoint === null) throw noSuchEndpoint(endpointId);
  return endpoint;
}

/** The version that a change is meant for: any that there is, or none yet. */
export const ifMatch = z.union([z.int(), z.literal("*")]).optional();
type IfMatch = z.output<typeof ifMatch>;
/** Versions begin above it. */
const NOT_YET = 0;

/** Whoever changes what somebody else has changed since is told so. `version` null: it is not there. */
export function mustBeFresh(wanted: IfMatch, version: number | null): void {
  const isFresh = wanted === undefined || (wanted === "*" ? version !== null : wanted === (version ?? NOT_YET));
  if (isFresh) return;
  const there = version === null ? "there is none" : `this is version ${version}`;
  throw new OperationError("stale", wanted === NOT_YET ? `it is there already: ${there}` : `not as expected: ${there}`);
}

export function refusedFor(problems: readonly Problem[]): OperationError {
  return new OperationError("bad-request", problems.map(toldAt).join("; "), undefined, { problems });
}

function toldAt({ path, message }: Problem): string {
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}

type Holding = Pick<JobRecord, "status"> & { readonly notify: readonly KeptNotify[] };
const BARE_JOB: Holding = { status: "active", notify: [] };

/** What is wrong with it is told with its fields. */
export function definitionOrRefusal(tenant: string, endpoint: EndpointRecord, job: Holding = BARE_JOB): JobDefinition {
  const isHeld = job.status !== "active";
  const read = definitionOf(endpoint.spec, { identity: identityIn(tenant, endpoint), isHeld, notify: job.notify });
  if (!read.ok) throw refusedFor(read.error);
  return read.value;
}

/** Its secrets sealed; null keeps the one that there is. */
export function sealed(
  ports: Acting,
  wished: Readonly<Record<string, string | null>>,
  before: EndpointSpec["secretHeaders"] = {},
  place: readonly (string | number)[] = [],
): EndpointSpec["secretHeaders"] {
  const entries = Object.entries(wished).map(([header, value]) => {
    const kept = Object.hasOwn(before, header) ? before[header] : undefined;
    if (value === null && kept !== undefined) return [header, kept] as const;
    if (value === null) throw refusedFor([problemAt(unknownSecret(header), ...place)]);
    if (!isHeaderValue(value)) throw refusedFor([problemAt(unfitSecret(header), ...place)]);
    return [header, sealedText(ports, value)] as const;
  });
  return Object.fromEntries(entries);
}

export function sealedText(ports: Acting, value: string): string {
  const text = ports.seal(value);
  if (!text.ok) throw new OperationError("failed", text.error);
  return text.value;
}

function unknownSecret(header: string): Problem {
  const message = "there is no value of before that could be kept";
  return { code: "field-missing", message, path: ["secretHeaders", header] };
}

/** Once it is sealed nobody can tell any more. */
function unfitSecret(header: string): Problem {
  const message = `the value of ${header} contains characters that headers cannot have`;
  return { code: "field-range", message, path: ["secretHeaders", header] };
}

/** As its job and its tenant's limits have it. */
async function definitionIn(ports: Acting, tenant: string, endpoint: EndpointRecord, job: JobRecord) {
  const { limits } = await ports.quotas.use(tenant);
  return definitionOrRefusal(tenant, heldTo(limits, endpoint), job);
}

/** Defines it as it is to be when this begins; what is written of it goes along. */
export function putEndpoint(
  ports: Acting,
  tenant: string,
  endpoint: EndpointRecord,
  along: readonly ObjectWrite[],
): Promise<void> {
  return ports.putting.during(tenant, async () => {
    const job = await jobOf(ports, tenant, endpoint.jobId);
    const definition = await definitionIn(ports, tenant, endpoint, job);
    await ports.supervisor.define(definition, ofJob(definition.identity, along));
    ports.planners.changed(definition.identity);
  });
}

export function dropEndpoint(ports: Acting, tenant: string, endpoint: EndpointRecord): Promise<void> {
  const { id: endpointId, jobId, spec } = endpoint;
  return dropNamed(ports, { tenant, jobId, endpointId }, [nameKey(tenant, jobId, spec.name)]);
}

/** One whose record cannot be read too. */
export async function dropNamed(ports: Acting, name: EndpointName, named: readonly string[]): Promise<void> {
  const { tenant, endpointId } = name;
  const identity = endpointIdentity(name);
  const gone = [endpointKey(tenant, endpointId), memberKey(name), ...named].map((key) => ({ key, text: null }));
  await ports.quotas.takeOutEndpoint(tenant, async () => {
    const left = { key: goneKey(name, ports.now()), text: "" };
    const all = [...gone, ...ports.health.forget(identity), left];
    const wasThere = await ports.supervisor.remove(identity, ofJob(identity, all));
    if (!wasThere) await ports.write(all);
  });
  ports.planners.changed(identity);
}

function ofJob(identity: string, objects: readonly ObjectWrite[]): readonly JobObject[] {
  return objects.map((write) => ({ ...write, identity }));
}

/** Everything that is of one endpoint takes its turn, whoever asks for it. */
export function inEndpointTurn<T>(
  ports: Acting,
  tenant: string,
  endpointId: string,
  act: () => Promise<T>,
): Promise<T> {
  return ports.inTurn(endpointKey(tenant, endpointId), act);
}

/** Changes what holds for all endpoints of a job, and brings it to each of them. In the turn of the job. */
export async function changeForAll(
  ports: Acting,
  tenant: string,
  job: JobRecord,
  along: readonly ObjectWrite[] = [],
): Promise<void> {
  await ports.write([jobWrite(tenant, job), ...along, { key: unsettledKey(tenant, job.id), text: "" }]);
  // Whatever has begun may have read the job as it was. What begins now has not, and need not be waited for.
  await ports.putting.over(tenant);
  await orThrow((onTrouble) => settleJob(ports, tenant, job.id, onTrouble));
}

/** Changes what a tenant may use, and how often its endpoints may run, whatever they say themselves. */
export function changeLimits(ports: Acting, tenant: string, limits: QuotaLimits, isRehearsal: boolean): Promise<void> {
  return ports.inTurn(unsettledKey(tenant, ALL_JOBS), async () => {
    const { limits: before } = await ports.quotas.use(tenant);
    const isSamePace = limits.minIntervalMs === before.minIntervalMs;
    if (!isSamePace) await mustHoldForAll(ports, tenant, limits);
    if (isRehearsal) return;
    if (isSamePace) return ports.quotas.setLimits(tenant, limits);
    await ports.quotas.setLimits(tenant, limits, [{ key: unsettledKey(tenant, ALL_JOBS), text: "" }]);
    await ports.putting.over(tenant);
    await orThrow((onTrouble) => settleTenant(ports, tenant, onTrouble));
  });
}

/** What cannot be brought to each of a tenant's endpoints is not kept for any of them: one that cannot be read is in its way. */
async function mustHoldForAll(ports: Acting, tenant: string, limits: QuotaLimits): Promise<void> {
  try {
    for await (const jobIds of pagesUnder(ports.reader, `${JOBS}${tenant}/`, AT_ONCE)) {
      for (const jobId of jobIds) await mustHoldForJob(ports, tenant, jobId, limits);
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const hint = "take it out, and set them again: DELETE /endpoints/ID, or kron endpoint delete ID";
    throw new OperationError("refused", `${error.message}: the limits stay as they are`, hint);
  }
}

async function mustHoldForJob(ports: Acting, tenant: string, jobId: string, limits: QuotaLimits): Promise<void> {
  const job = await readableJob(ports, tenant, jobId);
  if (job === null || job.isLeaving) return;
  for await (const ids of pagesUnder(ports.reader, membersOf(tenant, jobId), AT_ONCE)) {
    const judged = ids.map(async (id) => {
      const endpoint = await readEndpoint(ports.reader, tenant, id);
      if (endpoint !== null) storedDefinitionIn(tenant, endpoint, job, limits);
    });
    await Promise.all(judged);
  }
}

/** null: nobody can say what its endpoints are to be; whoever settles the tenant tells of it. */
async function readableJob(ports: Acting, tenant: string, jobId: string): ReturnType<typeof readJob> {
  try {
    return await readJob(ports.reader, tenant, jobId);
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}

async function orThrow(settle: (onTrouble: OnTrouble) => Promise<void>): Promise<void> {
  const troubles: unknown[] = [];
  await settle((error) => troubles.push(error));
  // What holds for all of them is durable, and so it is with each that could be asked.
  if (troubles.length > 0) throw ofTheRest(troubles[0]);
}

/** Of one endpoint, or one job; the others are brought in line all the same. What it throws ends everything. */
type OnTrouble = (error: unknown) => void;

/** What a crash has left half-way. */
export async function settleAll(ports: Acting, onTrouble: OnTrouble): Promise<void> {
  for await (const { tenant, jobId } of unsettledJobs(ports.reader)) {
    const isTenant = jobId === ALL_JOBS;
    const name = isTenant ? unsettledKey(tenant, ALL_JOBS) : jobKey(tenant, jobId);
    const settle = async (): Promise<void> => {
      // Whoever was about it, on another node too, may have come to the end of it by now.
      if (!(await isUnsettled(ports.reader, tenant, jobId))) return;
      await (isTenant ? settleTenant(ports, tenant, onTrouble) : settleJob(ports, tenant, jobId, onTrouble));
    };
    await apart(() => ports.inTurn(name, settle), onTrouble);
  }
}

async function apart(act: () => Promise<void>, onTrouble: OnTrouble): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (error instanceof KronError && error.isFatal) throw error;
    onTrouble(error);
  }
}

async function settleTenant(ports: Acting, tenant: string, onTrouble: OnTrouble): Promise<void> {
  let isSettled = true;
  const told: OnTrouble = (error) => {
    isSettled = false;
    onTrouble(error);
  };
  for await (const ids of pagesUnder(ports.reader, `${JOBS}${tenant}/`, AT_ONCE)) {
    for (const id of ids) {
      await apart(() => ports.inTurn(jobKey(tenant, id), () => settleJob(ports, tenant, id, told)), told);
    }
  }
  if (isSettled) await ports.write([{ key: unsettledKey(tenant, ALL_JOBS), text: null }]);
}

/** It stays unsettled for as long as one of its endpoints cannot be brought in line: each start tries again. */
async function settleJob(ports: Acting, tenant: string, jobId: string, onTrouble: OnTrouble): Promise<void> {
  const job = await readJob(ports.reader, tenant, jobId);
  let isSettled = true;
  const told: OnTrouble = (error) => {
    isSettled = false;
    onTrouble(error);
  };
  for await (const ids of pagesUnder(ports.reader, membersOf(tenant, jobId), AT_ONCE)) {
    const settle = (id: string) =>
      inEndpointTurn(ports, tenant, id, () => settleOne(ports, { tenant, jobId, endpointId: id }, job));
    await Promise.all(ids.map((id) => apart(() => settle(id), told)));
  }
  if (!isSettled) return;
  const gone = job === null || !job.isLeaving ? [] : [jobKey(tenant, jobId), nameKey(tenant, "", job.name)];
  await ports.write([...gone, unsettledKey(tenant, jobId)].map((key) => ({ key, text: null })));
}

async function settleOne(
  ports: Acting,
  { tenant, jobId, endpointId }: EndpointName,
  job: JobRecord | null,
): Promise<void> {
  const isLeaving = job === null || job.isLeaving;
  const name = { tenant, jobId, endpointId };
  try {
    const endpoint = await readEndpoint(ports.reader, tenant, endpointId);
    if (endpoint === null) return;
    if (isLeaving) return await dropEndpoint(ports, tenant, endpoint);
    const { limits } = await ports.quotas.use(tenant);
    await ports.supervisor.define(storedDefinitionIn(tenant, endpoint, job, limits), []);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    if (isLeaving) return dropNamed(ports, name, await namedAs(ports.reader, tenant, endpointId));
    // What it runs by is on record beside it. Whether the rest of it holds nobody can tell: it is not settled.
    await holdAsDefined(ports, endpointIdentity(name), job);
    throw error;
  }
}

/** What is on record was judged when it was written: where it would be refused now, nobody is asked to write it otherwise. */
function storedDefinitionIn(tenant: string, endpoint: EndpointRecord, job: JobRecord, limits: QuotaLimits) {
  try {
    return definitionOrRefusal(tenant, heldTo(limits, endpoint), job);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    throw unreadable(endpointKey(tenant, endpoint.id), error.message);
  }
}

/** Of an endpoint that cannot be read: as its definition in force has it, but for what holds for its job. */
async function holdAsDefined(ports: Acting, identity: string, { status }: JobRecord): Promise<void> {
  const version = await ports.reader.newestVersion(identity);
  const known = version?.isIntact === true && version.text !== null ? storedDefinition(version.text) : null;
  if (known === null) return;
  await ports.supervisor.define({ ...known, policy: { ...known.policy, suspend: status !== "active" } }, []);
}
