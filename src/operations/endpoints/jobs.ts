/** Jobs of a tenant: what groups endpoints, and holds all of them at once. */
import { z } from "zod";
import type { Problem } from "../../core/base/problem.js";
import { NOTIFY_WISHED } from "../../core/endpoint/notify.js";
import { ENDPOINT_FIELDS } from "../../core/endpoint/spec.js";
import type { ObjectWrite, StateReader, StoredObject } from "../../persist/store.js";
import { OPERATION_LIMITS } from "../limits.js";
import { type Caller, OperationError, tenantOperation } from "../operation.js";
import type { Acting } from "../ports.js";
import { DONE, dryRun } from "../rehearsal.js";
import { listOf } from "../shapes/words.js";
import { changeForAll, ifMatch, jobOf, mustBeFresh } from "./change.js";
import { keptNotify } from "./notify.js";
import {
  isUnsettled,
  JOBS,
  type JobRecord,
  jobIn,
  jobKey,
  jobWrite,
  membersOf,
  nameKey,
  newIdOf,
  readJob,
} from "./records.js";
import { JOB_ANSWER, type JobAnswer, jobId } from "./shapes.js";
import { jobAnswer } from "./view.js";
import { writtenName } from "./written-name.js";

const description = z.string().max(4_096);
const notify = NOTIFY_WISHED.meta({ description: "Who is told of its endpoints, where they do not say themselves." });

const JOBS_ANSWER = z.strictObject({ rows: listOf(JOB_ANSWER), next: jobId.nullable() });
type JobsAnswer = z.output<typeof JOBS_ANSWER>;

const versioned = { etag: ({ version }: JobAnswer) => `${version}`, takesIfMatch: true } as const;

export const CREATE_JOB = tenantOperation({
  name: "jobs.create",
  summary: "makes a job, which groups endpoints",
  http: { method: "POST", path: "/jobs", makes: true, etag: versioned.etag, query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({
    name: writtenName,
    description: description.default(""),
    notify: notify.default([]),
    dryRun,
  }),
  output: JOB_ANSWER,
  run: async ({ dryRun: isRehearsal, ...wish }, ports, { tenant }): Promise<JobAnswer> => {
    const named = nameKey(tenant, "", wish.name);
    return ports.inTurn(named, async () => {
      const now = ports.now();
      const id = newIdOf("job");
      const dates = { createdAt: now, updatedAt: now, version: 1 };
      const about = { ...wish, notify: keptNotify(ports, wish.notify) };
      await mustBeFree(ports, named, wish.name);
      const job: JobRecord = { id, ...about, status: "active", isLeaving: false, ...dates };
      if (!isRehearsal) await ports.write([jobWrite(tenant, job), { key: named, text: id }]);
      return jobAnswer(job);
    });
  },
});

export const LIST_JOBS = tenantOperation({
  name: "jobs.list",
  summary: "the jobs of a tenant",
  http: { method: "GET", path: "/jobs", isPaged: true },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({
    cursor: jobId.nullable(),
    limit: z.int().min(1).max(OPERATION_LIMITS.listRows),
    name: ENDPOINT_FIELDS.name.optional().meta({ description: "The one of this name, or none." }),
  }),
  output: JOBS_ANSWER,
  run: async ({ cursor, limit, name: wanted }, { reader }, { tenant }): Promise<JobsAnswer> => {
    if (wanted !== undefined) return { rows: await jobsNamed(reader, tenant, wanted), next: null };
    const prefix = `${JOBS}${tenant}/`;
    const behind = cursor === null ? {} : { after: prefix + cursor };
    const found = await reader.objects({ prefix, ...behind, limit: limit + 1 });
    const jobs = found.slice(0, limit).map(jobIn);
    const rows = jobs.filter(({ isLeaving }) => !isLeaving).map(jobAnswer);
    return { rows, next: found.length > limit ? (jobs.at(-1)?.id ?? null) : null };
  },
});

async function jobsNamed(reader: StateReader, tenant: string, wanted: string): Promise<readonly JobAnswer[]> {
  const known = await reader.object(nameKey(tenant, "", wanted));
  const job = known === undefined ? null : await readJob(reader, tenant, known.text);
  return job === null || job.isLeaving ? [] : [jobAnswer(job)];
}

export const GET_JOB = tenantOperation({
  name: "jobs.get",
  summary: "one job",
  http: { method: "GET", path: "/jobs/:jobId", etag: versioned.etag, isAllByVersion: true },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ jobId }),
  output: JOB_ANSWER,
  run: async (request, ports, { tenant }) => jobAnswer(await jobOf(ports, tenant, request.jobId)),
});

export const UPDATE_JOB = tenantOperation({
  name: "jobs.update",
  summary: "changes the name of a job, its description, or whom its endpoints tell",
  http: { method: "PATCH", path: "/jobs/:jobId", ...versioned, query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({
    jobId,
    ifMatch,
    dryRun,
    name: writtenName.optional(),
    description: description.optional(),
    notify: notify.optional(),
  }),
  output: JOB_ANSWER,
  run: (request, ports, { tenant }): Promise<JobAnswer> =>
    inJobTurn(ports, tenant, request.jobId, async () => {
      const job = await jobOf(ports, tenant, request.jobId);
      mustBeFresh(request.ifMatch, job.version);
      const changed = touched(ports, {
        ...job,
        name: request.name ?? job.name,
        description: request.description ?? job.description,
        notify: request.notify === undefined ? job.notify : keptNotify(ports, request.notify, job.notify),
      });
      // Of its endpoints each has it on record whom it tells.
      const write = async (along: readonly ObjectWrite[]): Promise<void> => {
        if (request.dryRun) return;
        if (request.notify === undefined) await ports.write([jobWrite(tenant, changed), ...along]);
        else await changeForAll(ports, tenant, changed, along);
      };
      if (changed.name === job.name) {
        await write([]);
        return jobAnswer(changed);
      }
      const [old, named] = [nameKey(tenant, "", job.name), nameKey(tenant, "", changed.name)];
      return ports.inTurn(named, async () => {
        await mustBeFree(ports, named, changed.name);
        await write([
          { key: old, text: null },
          { key: named, text: job.id },
        ]);
        return jobAnswer(changed);
      });
    }),
});

/** What holds for a job holds for all its endpoints: S17 for those of a job that is paused, until it goes on. */
function statusOperation<const Name extends string>(
  operationName: Name,
  summary: string,
  path: `/jobs/:jobId/${string}`,
  status: JobRecord["status"],
) {
  return tenantOperation({
    name: operationName,
    summary,
    http: { method: "POST", path, etag: versioned.etag, query: ["dryRun"] },
    access: "operate",
    beginsSomething: true,
    input: z.strictObject({ jobId, dryRun }),
    output: JOB_ANSWER,
    run: (request, ports: Acting, { tenant }: Caller): Promise<JobAnswer> =>
      inJobTurn(ports, tenant, request.jobId, async () => {
        const job = await jobOf(ports, tenant, request.jobId);
        const isSame = job.status === status;
        if (isSame && !(await isUnsettled(ports.reader, tenant, job.id))) return jobAnswer(job);
        // Asked again, it is brought to those endpoints that it could not be brought to.
        const changed = isSame ? job : touched(ports, { ...job, status });
        if (!request.dryRun) await changeForAll(ports, tenant, changed);
        return jobAnswer(changed);
      }),
  });
}

export const PAUSE_JOB = statusOperation(
  "jobs.pause",
  "starts nothing of a job's endpoints until it is resumed",
  "/jobs/:jobId/pause",
  "paused",
);
export const RESUME_JOB = statusOperation(
  "jobs.resume",
  "lets the endpoints of a paused or archived job go on",
  "/jobs/:jobId/resume",
  "active",
);
export const ARCHIVE_JOB = statusOperation(
  "jobs.archive",
  "puts a job away with all that is on record of it: nothing of it is started",
  "/jobs/:jobId/archive",
  "archived",
);

export const DELETE_JOB = tenantOperation({
  name: "jobs.delete",
  summary: "takes out a job with all its endpoints; their runs stay on record for as long as all runs do",
  http: { method: "DELETE", path: "/jobs/:jobId", takesIfMatch: true },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ jobId, ifMatch, force: z.boolean().default(false), dryRun }),
  output: DONE,
  run: (request, ports, { tenant }): Promise<null> =>
    inJobTurn(ports, tenant, request.jobId, async () => {
      const job = await jobOf(ports, tenant, request.jobId);
      mustBeFresh(request.ifMatch, job.version);
      const [member] = await ports.reader.objects({ prefix: membersOf(tenant, job.id), limit: 1 });
      if (member !== undefined && !request.force) throw hasEndpoints();
      if (!request.dryRun) await changeForAll(ports, tenant, touched(ports, { ...job, isLeaving: true }));
      return null;
    }),
});

function hasEndpoints(): OperationError {
  return new OperationError(
    "refused",
    "the job has endpoints",
    "delete them first, or say force (--force): they go with it",
  );
}

function inJobTurn<T>(ports: Acting, tenant: string, id: string, act: () => Promise<T>): Promise<T> {
  return ports.inTurn(jobKey(tenant, id), act);
}

function touched(ports: Acting, job: JobRecord): JobRecord {
  return { ...job, updatedAt: ports.now(), version: job.version + 1 };
}

/** Names are unique; who has one is found by it. */
export async function mustBeFree(ports: Acting, key: string, wanted: string): Promise<void> {
  const taken: StoredObject | undefined = await ports.reader.object(key);
  if (taken === undefined) return;
  const message = `the name ${JSON.stringify(wanted)} is taken, by ${taken.text}`;
  const problems: readonly Problem[] = [{ code: "name-taken", message, path: ["name"] }];
  throw new OperationError("conflict", message, undefined, { problems });
}
