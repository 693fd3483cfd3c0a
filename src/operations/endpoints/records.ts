/** Tenants, jobs and endpoints as they are kept: objects of the store, found by name, and read as what was written. */

import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { KronError } from "../../core/base/errors/kron-error.js";
import { jsonIn } from "../../core/base/fields.js";
import { type EndpointName, endpointIdentity } from "../../core/endpoint/endpoint-name.js";
import { NOTIFY_KEPT } from "../../core/endpoint/notify.js";
import { ENDPOINT_SPEC } from "../../core/endpoint/spec.js";
import type { ObjectWrite, StateReader, StoredObject } from "../../persist/store.js";
import { instant } from "../shapes/words.js";

export const JOB_STATUSES = ["active", "paused", "archived"] as const;

const DATED = { createdAt: instant, updatedAt: instant, version: z.int().min(1) };

const JOB_RECORD = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(JOB_STATUSES),
  /** It is being taken out, endpoint by endpoint. */
  isLeaving: z.boolean().default(false),
  /** Whom its endpoints tell that do not say themselves. Secrets in it are sealed. */
  notify: NOTIFY_KEPT.default([]),
  ...DATED,
});
export type JobRecord = z.output<typeof JOB_RECORD>;

const ENDPOINT_RECORD = z.object({
  id: z.string(),
  jobId: z.string(),
  /** Secrets in it are sealed. */
  spec: ENDPOINT_SPEC,
  ...DATED,
});
export type EndpointRecord = z.output<typeof ENDPOINT_RECORD>;

export const JOBS = "job/";
export const ENDPOINTS = "endpoint/";
const NAMES = "named/";
const UNSETTLED = "unsettled/";

export function jobKey(tenant: string, jobId: string): string {
  return `${JOBS}${tenant}/${jobId}`;
}

export function endpointKey(tenant: string, endpointId: string): string {
  return `${ENDPOINTS}${tenant}/${endpointId}`;
}

/** What lists the endpoints of a job. */
export function memberKey({ tenant, jobId, endpointId }: EndpointName): string {
  return `${membersOf(tenant, jobId)}${endpointId}`;
}

export function membersOfAll(tenant: string): string {
  return `member/${tenant}/`;
}

export function namesOf(tenant: string): string {
  return `${NAMES}${tenant}/`;
}

export function membersOf(tenant: string, jobId: string): string {
  return `${membersOfAll(tenant)}${jobId}/`;
}

/** Who has a name: of jobs among those of a tenant, of endpoints among those of a job. */
export function nameKey(tenant: string, among: string, name: string): string {
  const digest = createHash("sha256").update(`${among}\n${name}`).digest("hex").slice(0, 32);
  return namesOf(tenant) + digest;
}

/** In place of a job: what holds for a tenant may not be true of each of its endpoints yet. */
export const ALL_JOBS = "";

/** That what holds for a job may not be true of each of its endpoints yet. */
export function unsettledKey(tenant: string, jobId: string): string {
  return `${UNSETTLED}${tenant}/${jobId}`;
}

export async function isUnsettled(reader: StateReader, tenant: string, jobId: string): Promise<boolean> {
  return (await reader.object(unsettledKey(tenant, jobId))) !== undefined;
}

export async function* unsettledJobs(reader: StateReader): AsyncGenerator<{ tenant: string; jobId: string }> {
  for await (const names of pagesUnder(reader, UNSETTLED, UNSETTLED_PAGE)) {
    for (const name of names) {
      const [tenant = "", jobId = ""] = name.split("/");
      yield { tenant, jobId };
    }
  }
}

const UNSETTLED_PAGE = 1_000;

/** What stands behind a prefix, page by page. */
export async function* pagesUnder(
  reader: StateReader,
  prefix: string,
  limit: number,
): AsyncGenerator<readonly string[]> {
  let after: string | undefined;
  for (;;) {
    const page = await reader.objects({ prefix, limit, ...(after === undefined ? {} : { after }) });
    after = page.at(-1)?.key;
    if (after === undefined) return;
    yield page.map(({ key }) => key.slice(prefix.length));
  }
}

export function jobWrite(tenant: string, job: JobRecord): ObjectWrite {
  return { key: jobKey(tenant, job.id), text: JSON.stringify(job) };
}

export function endpointWrite(tenant: string, endpoint: EndpointRecord): ObjectWrite {
  return { key: endpointKey(tenant, endpoint.id), text: JSON.stringify(endpoint) };
}

/** null: there is none. */
export async function readJob(reader: StateReader, tenant: string, jobId: string): Promise<JobRecord | null> {
  const stored = await reader.object(jobKey(tenant, jobId));
  return stored === undefined ? null : jobIn(stored);
}

export async function readEndpoint(reader: StateReader, tenant: string, id: string): Promise<EndpointRecord | null> {
  const stored = await reader.object(endpointKey(tenant, id));
  return stored === undefined ? null : endpointIn(stored);
}

export function jobIn(stored: StoredObject): JobRecord {
  return readAs(JOB_RECORD, stored);
}

export function endpointIn(stored: StoredObject): EndpointRecord {
  return readAs(ENDPOINT_RECORD, stored);
}

export function identityIn(tenant: string, { id: endpointId, jobId }: EndpointRecord): string {
  return endpointIdentity({ tenant, jobId, endpointId });
}

function readAs<T>(shape: z.ZodType<T>, { key, text, isIntact }: StoredObject): T {
  const read = isIntact ? shape.safeParse(jsonIn(text)) : null;
  if (read?.success === true) return read.data;
  throw unreadable(key);
}

export function unreadable(key: string, why?: string): KronError {
  const message = why === undefined ? `${key} cannot be read` : `${key} cannot be read: ${why}`;
  return new KronError("object-unreadable", message, { component: "api", operation: "read" });
}

/** Digits and small letters without those that look alike: five bits each. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const ID_CHARS = 16;

/** 80 bits that nobody can guess. */
export function newIdOf(kind: "job" | "ep"): string {
  const chars = [...randomBytes(ID_CHARS)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return `${kind}_${chars.join("")}`;
}
