/** Many endpoints held, let go on, or run otherwise for a while, at once: those of a job, those with a tag, or those of a job with a tag. */
import { z } from "zod";
import { endpointIdentity } from "../../core/endpoint/endpoint-name.js";
import { KRON } from "../../core/governor/author.js";
import { HINT_KINDS } from "../../core/governor/hint.js";
import { MINUTE_MS } from "../../core/time/instant.js";
import { afterwards } from "../half-done.js";
import { tenantOperation } from "../operation.js";
import type { Acting } from "../ports.js";
import { statusesOf } from "../records/attended-status.js";
import { REHEARSED } from "../rehearsal.js";
import { count, time } from "../shapes/words.js";
import { jobOf, refusedFor } from "./change.js";
import { ENDPOINTS, type EndpointRecord, endpointIn, identityIn, membersOf, pagesUnder } from "./records.js";
import { jobId } from "./shapes.js";
import { authorOf, hintFrom, instantAt, pauseEndAt } from "./wanted.js";

const PAGE = 1_000;
const AT_ONCE = 64;

const WHICH = {
  jobId: jobId.optional(),
  tag: z.string().min(1).max(512).optional(),
  dryRun: z.boolean().default(false).meta({ description: "true: they are counted, and nothing is changed." }),
};
type Which = { readonly [Name in keyof typeof WHICH]?: z.output<(typeof WHICH)[Name]> | undefined };

const MANY_ANSWER = z.strictObject({ matched: count, changed: count, ...REHEARSED });
type ManyAnswer = z.output<typeof MANY_ANSWER>;

export const PAUSE_ENDPOINTS = tenantOperation({
  name: "endpoints.pause_many",
  summary: "starts nothing of the endpoints of a job, or with a tag, until then; what has stopped by itself stays so",
  http: { method: "POST", path: "/endpoints/pause" },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ ...WHICH, pausedUntil: time, reason: z.string().max(1_000).default("") }),
  output: MANY_ANSWER,
  run: ({ pausedUntil, reason, ...which }, ports, caller) => {
    const { tenant, by } = authorOf(caller);
    const untilAt = pauseEndAt(pausedUntil, ports);
    return ofEach(ports, tenant, which, async (identity) => {
      // S51: it is paused for good, and would begin anew when this pause is over. Whoever wants that says so of it by itself.
      if (await hasStopped(ports, identity)) return false;
      return ports.supervisor.pause(identity, untilAt, reason, false, by);
    });
  },
});

export const RESUME_ENDPOINTS = tenantOperation({
  name: "endpoints.resume_many",
  summary: "lets the endpoints of a job, or with a tag, go on",
  http: { method: "POST", path: "/endpoints/resume" },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject(WHICH),
  output: MANY_ANSWER,
  run: (which, ports, caller) => {
    const { tenant, by } = authorOf(caller);
    return ofEach(ports, tenant, which, (identity) => ports.supervisor.resume(identity, by));
  },
});

export const HINT_ENDPOINTS = tenantOperation({
  name: "endpoints.hint_many",
  summary:
    "lets the endpoints of a job, or with a tag, run otherwise for a while: at an interval, or once at an instant",
  http: { method: "POST", path: "/endpoints/hints" },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({
    ...WHICH,
    intervalMs: z.number().nullable().default(null),
    nextRunAt: time.nullable().default(null),
    ttlMinutes: z.number().nullable().default(null),
    reason: z.string().max(1_000).default(""),
  }),
  output: MANY_ANSWER,
  run: ({ intervalMs, nextRunAt, ttlMinutes, reason, ...which }, ports, caller) => {
    const { tenant, by } = authorOf(caller);
    const hint = hintFrom(
      {
        ...(intervalMs === null ? {} : { intervalMs }),
        ...(nextRunAt === null ? {} : { nextRunAt: instantAt(nextRunAt, "nextRunAt") }),
        ttlMs: ttlMinutes === null ? null : Math.round(ttlMinutes * MINUTE_MS),
        reason,
      },
      ports,
      by,
    );
    return ofEach(ports, tenant, which, async (identity) => (await ports.supervisor.hint(identity, hint)) === "set");
  },
});

export const CLEAR_HINTS_OF_MANY = tenantOperation({
  name: "endpoints.clear_hints_many",
  summary: "takes hints of the endpoints of a job, or with a tag, back",
  http: { method: "POST", path: "/endpoints/hints/clear" },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ ...WHICH, hintKind: z.enum(["all", ...HINT_KINDS]).default("all") }),
  output: MANY_ANSWER,
  run: ({ hintKind, ...which }, ports, caller) => {
    const { tenant, by } = authorOf(caller);
    return ofEach(ports, tenant, which, (identity) => ports.supervisor.clearHints(identity, hintKind, by));
  },
});

async function hasStopped(ports: Acting, identity: string): Promise<boolean> {
  const [status] = await statusesOf(ports, [identity]);
  return status?.pausedBy === KRON;
}

/** `act` says whether there was something to be done it to. */
async function ofEach(
  ports: Acting,
  tenant: string,
  { jobId: of, tag, dryRun }: Which,
  act: (identity: string) => Promise<boolean>,
): Promise<ManyAnswer> {
  if (of === undefined && tag === undefined) throw nobodyNamed();
  if (of !== undefined) await jobOf(ports, tenant, of);
  let [matched, changed] = [0, 0];
  for await (const meant of of !== undefined && tag === undefined
    ? membersOfJob(ports, tenant, of)
    : taggedWith(ports, tenant, of, tag)) {
    matched += meant.length;
    for (let at = 0; at < meant.length && dryRun !== true; at += AT_ONCE) {
      const done = await afterwards(() => Promise.all(meant.slice(at, at + AT_ONCE).map(act)));
      changed += done.filter((isDone) => isDone).length;
    }
  }
  return { matched, changed };
}

/** Whatever they are: one that cannot be read is held with the others. */
async function* membersOfJob({ reader }: Acting, tenant: string, jobId: string): AsyncGenerator<readonly string[]> {
  for await (const ids of pagesUnder(reader, membersOf(tenant, jobId), PAGE)) {
    yield ids.map((endpointId) => endpointIdentity({ tenant, jobId, endpointId }));
  }
}

async function* taggedWith(
  ports: Acting,
  tenant: string,
  of: string | undefined,
  tag: string | undefined,
): AsyncGenerator<readonly string[]> {
  for await (const page of endpointsOf(ports, tenant)) {
    const meant = page.filter(({ jobId: own, spec }) => {
      return (of === undefined || own === of) && (tag === undefined || spec.tags.includes(tag));
    });
    yield meant.map((endpoint) => identityIn(tenant, endpoint));
  }
}

async function* endpointsOf({ reader }: Acting, tenant: string): AsyncGenerator<readonly EndpointRecord[]> {
  const prefix = `${ENDPOINTS}${tenant}/`;
  for (let after: string | undefined; ; ) {
    const page = await reader.objects({ prefix, limit: PAGE, ...(after === undefined ? {} : { after }) });
    yield page.map(endpointIn);
    after = page.at(-1)?.key;
    if (page.length < PAGE) return;
  }
}

function nobodyNamed(): Error {
  return refusedFor([{ code: "field-missing", message: "a job or a tag says which ones", path: ["jobId"] }]);
}
