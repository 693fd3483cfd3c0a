/** Endpoints: made, listed, changed and taken out while the daemon runs, one by one. */
import { z } from "zod";
import { LIMITS } from "../../core/base/limits.js";
import { toldNotify } from "../../core/endpoint/notify.js";
import { ENDPOINT_FIELDS, type EndpointSpec } from "../../core/endpoint/spec.js";
import { OPERATION_LIMITS } from "../limits.js";
import { tenantOperation } from "../operation.js";
import { DONE, dryRun } from "../rehearsal.js";
import { listOf } from "../shapes/words.js";
import { answerOf, answersOf } from "./answers.js";
import { dropEndpoint, dropNamed, endpointOf, ifMatch, inEndpointTurn, jobOf, mustBeFresh } from "./change.js";
import { endpointsBehind, endpointsNamed } from "./pages.js";
import { nameKey } from "./records.js";
import { changed, made } from "./settle.js";
import { ENDPOINT_ANSWER, type EndpointAnswer, endpointId, jobId } from "./shapes.js";
import { isUnreadable, namedAs, nameOfEndpoint } from "./unreadable.js";
import { newEndpoint, specOf, WISH, type Wish } from "./wish.js";

/** What is not named stays: no field has a default here. */
const PATCH_FIELDS = withoutDefaults(WISH);

const ENDPOINTS_ANSWER = z.strictObject({ rows: listOf(ENDPOINT_ANSWER), next: endpointId.nullable() });
type EndpointsAnswer = z.output<typeof ENDPOINTS_ANSWER>;

const etag = ({ version }: EndpointAnswer): string => `${version}`;
const isMade = ({ version }: EndpointAnswer, request: { readonly dryRun: boolean }): boolean =>
  version === 1 && !request.dryRun;

export const CREATE_ENDPOINT = tenantOperation({
  name: "endpoints.create",
  summary: "makes an endpoint, which is scheduled from now on",
  http: { method: "POST", path: "/jobs/:jobId/endpoints", makes: isMade, etag, query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ jobId, dryRun, ...WISH }),
  output: ENDPOINT_ANSWER,
  run: async ({ jobId: of, dryRun: isRehearsal, ...wish }, ports, { tenant }): Promise<EndpointAnswer> => {
    await jobOf(ports, tenant, of);
    const named = nameKey(tenant, of, wish.name);
    return ports.inTurn(named, async () => made(ports, tenant, newEndpoint(ports, of, wish), named, isRehearsal));
  },
});

export const UPSERT_ENDPOINT = tenantOperation({
  name: "endpoints.upsert",
  summary: "makes the endpoint of this name what is written here, whether it is there already or not",
  http: {
    method: "PUT",
    path: "/jobs/:jobId/endpoints/by-name/:name",
    makes: isMade,
    etag,
    takesIfMatch: true,
    query: ["dryRun"],
  },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ jobId, dryRun, ifMatch, ...WISH }),
  output: ENDPOINT_ANSWER,
  run: async ({ jobId: of, dryRun: isRehearsal, ifMatch: match, ...wish }, ports, { tenant }) => {
    await jobOf(ports, tenant, of);
    const named = nameKey(tenant, of, wish.name);
    return ports.inTurn(named, async (): Promise<EndpointAnswer> => {
      const known = await ports.reader.object(named);
      if (known === undefined) {
        mustBeFresh(match, null);
        return made(ports, tenant, newEndpoint(ports, of, wish), named, isRehearsal);
      }
      return inEndpointTurn(ports, tenant, known.text, async () => {
        const endpoint = await endpointOf(ports, tenant, known.text);
        mustBeFresh(match, endpoint.version);
        const spec = specOf(ports, wish, endpoint.spec);
        return changed(ports, tenant, endpoint, spec, isRehearsal);
      });
    });
  },
});

export const GET_ENDPOINT = tenantOperation({
  name: "endpoints.get",
  summary: "one endpoint: what it is, and where it stands",
  http: { method: "GET", path: "/endpoints/:endpointId", etag },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ endpointId }),
  output: ENDPOINT_ANSWER,
  run: async (request, ports, { tenant }) =>
    answerOf(ports, tenant, await endpointOf(ports, tenant, request.endpointId)),
});

export const LIST_ENDPOINTS = tenantOperation({
  name: "endpoints.list",
  summary: "the endpoints of a tenant, or of one of its jobs",
  http: { method: "GET", path: "/endpoints", isPaged: true },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({
    cursor: endpointId.nullable(),
    limit: z.int().min(1).max(OPERATION_LIMITS.listRows),
    jobId: jobId.optional(),
    name: ENDPOINT_FIELDS.name.optional().meta({ description: "Of the job, the one of this name, or none." }),
    tag: z.string().min(1).max(LIMITS.tagChars).optional().meta({ description: "Those that have it." }),
    search: z.string().min(1).max(512).optional().meta({ description: "Those with this text in their name." }),
  }),
  output: ENDPOINTS_ANSWER,
  run: async ({ cursor, limit, jobId: of, name, tag, search = "" }, ports, { tenant }): Promise<EndpointsAnswer> => {
    if (of !== undefined) await jobOf(ports, tenant, of);
    const isWanted = (spec: Pick<EndpointSpec, "name" | "tags">): boolean =>
      spec.name.includes(search) && (tag === undefined || spec.tags.includes(tag));
    if (name !== undefined) {
      const rows = await endpointsNamed(ports, tenant, of, name);
      return { rows: rows.filter(isWanted), next: null };
    }
    const { endpoints, next } = await endpointsBehind(ports, tenant, {
      of,
      cursor,
      limit,
      isWanted: ({ spec }) => isWanted(spec),
    });
    return { rows: await answersOf(ports, tenant, endpoints), next };
  },
});

export const UPDATE_ENDPOINT = tenantOperation({
  name: "endpoints.update",
  summary: "changes what is named of an endpoint, and nothing else of it",
  http: { method: "PATCH", path: "/endpoints/:endpointId", etag, takesIfMatch: true, query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ endpointId, dryRun, ifMatch, ...PATCH_FIELDS }),
  output: ENDPOINT_ANSWER,
  run: async ({ endpointId: of, dryRun: isRehearsal, ifMatch: match, ...wished }, ports, { tenant }) => {
    const update = async (): Promise<EndpointAnswer> => {
      const endpoint = await endpointOf(ports, tenant, of);
      mustBeFresh(match, endpoint.version);
      const { secretHeaders: secrets, notify: rules, ...rest } = wished;
      const { secretHeaders: before, notify: told } = endpoint.spec;
      const secretHeaders = secrets ?? Object.fromEntries(Object.keys(before).map((header) => [header, null]));
      const notify = rules !== undefined ? rules : told === null ? null : toldNotify(told);
      const wish = { ...endpoint.spec, ...definedIn(rest), secretHeaders, notify } as Wish;
      return changed(ports, tenant, endpoint, specOf(ports, wish, endpoint.spec), isRehearsal);
    };
    const inItsTurn = (): Promise<EndpointAnswer> => inEndpointTurn(ports, tenant, of, update);
    // Whoever takes both turns takes that of the name first. An endpoint never changes its job.
    const { jobId: among } = await endpointOf(ports, tenant, of);
    return wished.name === undefined ? inItsTurn() : ports.inTurn(nameKey(tenant, among, wished.name), inItsTurn);
  },
});

export const DELETE_ENDPOINT = tenantOperation({
  name: "endpoints.delete",
  summary:
    "takes an endpoint out; what runs goes on to its end, and its runs stay on record for as long as all runs do",
  http: { method: "DELETE", path: "/endpoints/:endpointId", takesIfMatch: true },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ endpointId, ifMatch, dryRun }),
  output: DONE,
  run: (request, ports, { tenant }): Promise<null> =>
    inEndpointTurn(ports, tenant, request.endpointId, async () => {
      const { endpointId: id, ifMatch: match } = request;
      const endpoint = await endpointOf(ports, tenant, id).catch(async (error: unknown) => {
        const name = isUnreadable(error) ? await nameOfEndpoint(ports.reader, tenant, id) : null;
        // Nobody knows which version it is.
        if (name === null || match !== undefined) throw error;
        if (!request.dryRun) await dropNamed(ports, name, await namedAs(ports.reader, tenant, id));
        return null;
      });
      if (endpoint === null) return null;
      mustBeFresh(match, endpoint.version);
      if (!request.dryRun) await dropEndpoint(ports, tenant, endpoint);
      return null;
    }),
});

type Bare<T> = T extends z.ZodDefault<infer Inner> ? Inner : T;
type Patch<Fields> = { readonly [Name in keyof Fields]: z.ZodOptional<Bare<Fields[Name]> & z.ZodType> };

function withoutDefaults<Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields): Patch<Fields> {
  const bare = Object.entries(fields).map(([name, field]) => {
    const inner = field instanceof z.ZodDefault ? (field.removeDefault() as z.ZodType) : field;
    return [name, inner.optional()] as const;
  });
  return Object.fromEntries(bare) as unknown as Patch<Fields>;
}

function definedIn<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
