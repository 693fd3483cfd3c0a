/** The API as OpenAPI 3.1 has it: made from the routes, so that it cannot say anything else than what is served. */
import { z } from "zod";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { SCOPE_FOR } from "../../operations/operation.js";
import { DONE } from "../../operations/rehearsal.js";
import { SCOPES } from "../../operations/scope.js";
import { type Json, jsonSchema, opened, SCHEMA_OPTIONS } from "../form/json-schema.js";
import { unwrapped } from "../form/unwrapped.js";
import { API_LIMITS } from "../limits.js";
import { BASE_PATH, type Route } from "./routes.js";

const PROBLEM = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string(),
    hint: z.string().optional(),
    errors: z
      .array(z.object({ pointer: z.string(), code: z.string(), message: z.string(), hint: z.string().optional() }))
      .optional(),
  })
  .describe("RFC 9457");

const REFUSED = {
  description: "It is not done, and why not",
  content: { "application/problem+json": { schema: ref("Problem") } },
};

const IDEMPOTENCY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Sent again within a day with the same key, the request is not carried out again and hears the same.",
  schema: { type: "string", minLength: 1, maxLength: API_LIMITS.idempotencyKeyChars },
};

const IF_MATCH = {
  name: "If-Match",
  in: "header",
  required: false,
  description: "The ETag of what is to be changed: refused with 412 when it was changed since.",
  schema: { type: "string" },
};

const IF_NONE_MATCH = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "`*`: only where there is none of this name yet; refused with 412 where there is.",
  schema: { type: "string", const: "*" },
};

export function openApiOf(routes: readonly Route[]): Json {
  const names = answerNames(routes);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([A-Za-z]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, names) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Kron",
      version: ENGINE_VERSION,
      summary: "Jobs, when they run, what became of them, and why.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "wherever krond was told to listen" }],
    security: [{ key: [] }],
    paths: { ...paths, [`${BASE_PATH}/events`]: { get: EVENTS }, [`${BASE_PATH}/inspect`]: { get: INSPECT } },
    components: {
      schemas: componentsOf(routes, names),
      responses: { Problem: REFUSED },
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "kron_…, from 'kron keys create'" } },
    },
  };
}

const EVENTS = {
  operationId: "events",
  summary: "what happens, as it happens; with the key of a tenant, what happens to its endpoints",
  tags: ["events"],
  "x-kron-scope": SCOPES[0],
  parameters: [
    {
      name: "topics",
      in: "query",
      required: false,
      description: "Names of events and schedule:PATTERN, with commas between; without it, everything.",
      schema: { type: "string" },
    },
    {
      name: "Last-Event-ID",
      in: "header",
      required: false,
      description: "What was seen last: what came after it follows, or an event `gap` where nobody remembers.",
      schema: { type: "string" },
    },
  ],
  responses: {
    "200": { description: "Server-sent events", content: { "text/event-stream": { schema: { type: "string" } } } },
    ...refusals(),
  },
};

const INSPECT = {
  operationId: "inspect",
  summary: "what the machines of the daemon do, step by step",
  tags: ["events"],
  "x-kron-scope": SCOPES[1],
  parameters: [
    wanted("identity", "Only of these jobs; `*` stands for any text, `?` for one character. May be repeated."),
    wanted("kind", "Only of these machines, with commas between: supervisor, job, period, execution, launcher."),
    wanted("resting", "How many of the jobs that rest are listed: a number, all or none."),
    wanted("definitions", "Which actors come with their charts: all, the first of its kind (once), or none."),
  ],
  responses: EVENTS.responses,
};

function wanted(name: string, description: string): Json {
  return { name, in: "query", required: false, description, schema: { type: "string" } };
}

function operationOf(route: Route, names: AnswerNames): Json {
  const { operation, path, inBody } = route;
  const [, , , tag = ""] = path.split("/");
  return {
    operationId: operation.name,
    summary: operation.summary,
    tags: [tag],
    "x-kron-scope": SCOPE_FOR[operation.access],
    "x-kron-of": operation.of,
    parameters: parametersOf(route),
    ...(inBody.size === 0 ? {} : { requestBody: bodyOf(route) }),
    responses: { ...success(route, names), ...refusals() },
  };
}

function parametersOf(route: Route): readonly Json[] {
  const { method, inPath, inQuery, operation } = route;
  return [
    ...inPath.map((name) => parameter(route, name, "path")),
    ...[...inQuery].map((name) => parameter(route, name, "query")),
    ...(operation.http.takesIfMatch === true ? [IF_MATCH] : []),
    ...(operation.http.takesIfMatch === true && method === "PUT" ? [IF_NONE_MATCH] : []),
    ...(method === "POST" ? [IDEMPOTENCY] : []),
  ];
}

function parameter({ taken }: Route, name: string, where: "path" | "query"): Json {
  const field = (taken.shape as z.ZodRawShape)[name] as z.ZodType;
  const required = where === "path" || !field.safeParse(undefined).success;
  const { $schema: _, ...schema } = jsonSchema(withoutNull(field), "input");
  const description = descriptionOf(field);
  const standard = { ...(description === undefined ? {} : { description }), ...defaultOf(field) };
  const list = unwrapped(field) instanceof z.ZodArray ? { style: "form", explode: true } : {};
  return { name, in: where, required, ...list, schema: { ...schema, ...standard } };
}

/** In an address there is no null: it is left out. */
function withoutNull(field: z.ZodType): z.ZodType {
  const inner = innerOf(field);
  return inner === null ? field : withoutNull(inner);
}

/** What is said of it as a whole stands before what is said of what is in it. */
function descriptionOf(field: z.ZodType): string | undefined {
  const inner = innerOf(field);
  return field.description ?? (inner === null ? undefined : descriptionOf(inner));
}

/** null: it is around nothing. */
function innerOf(field: z.ZodType): z.ZodType | null {
  const isAround = field instanceof z.ZodNullable || field instanceof z.ZodOptional || field instanceof z.ZodDefault;
  return isAround ? (field.def.innerType as z.ZodType) : null;
}

function defaultOf(field: z.ZodType): Json {
  if (!(field instanceof z.ZodDefault)) return {};
  const value: unknown = field.def.defaultValue;
  return value === null ? {} : { default: value };
}

function bodyOf({ operation, taken, inBody }: Route): Json {
  const shape = taken.shape as z.ZodRawShape;
  const isNeeded = [...inBody].some((name) => !(shape[name] as z.ZodType).safeParse(undefined).success);
  return { required: isNeeded, content: { "application/json": { schema: ref(inputName(operation.name)) } } };
}

const DONE_ANSWER = { "204": { description: "It is done" } };

function rehearsedAnswer(): Json {
  const schema = jsonSchema(z.strictObject({ dryRun: z.literal(true) }), "output");
  return { description: "It could be done, and was not", content: { "application/json": { schema } } };
}

function success({ operation, told }: Route, names: AnswerNames): Json {
  if (told.schema instanceof z.ZodNull) return DONE_ANSWER;
  if (told.schema === DONE) return { ...DONE_ANSWER, "200": rehearsedAnswer() };
  const { makes, isPending, etag, isAllByVersion } = operation.http;
  const headers = etag === undefined ? {} : { headers: { ETag: { schema: { type: "string" } } } };
  const content = { "application/json": { schema: ref(names.get(told.schema) ?? "") } };
  const unchanged = isAllByVersion === true ? { "304": { description: "It is as it was" } } : {};
  const answer = { description: operation.summary, ...headers, content };
  const found = makes === true ? {} : { "200": answer };
  const pending =
    isPending === undefined ? {} : { "202": { ...answer, description: `${operation.summary}; it goes on` } };
  return { ...found, ...(makes === undefined ? {} : { "201": answer }), ...pending, ...unchanged };
}

function refusals(): Json {
  return { "4XX": { $ref: "#/components/responses/Problem" }, "5XX": { $ref: "#/components/responses/Problem" } };
}

/** One schema has two forms: what may be left out by who asks is there in an answer. So each has a name for each. */
function componentsOf(routes: readonly Route[], names: AnswerNames): Json {
  const inputs = z.registry<{ id: string }>();
  const answers = z.registry<{ id: string }>();
  for (const { operation, taken, inBody } of routes) {
    const shape = taken.shape as z.ZodRawShape;
    const body = z.strictObject(Object.fromEntries([...inBody].map((name) => [name, shape[name] as z.ZodType])));
    if (inBody.size > 0) inputs.add(body, { id: inputName(operation.name) });
  }
  for (const [schema, id] of names) answers.add(schema, { id });
  answers.add(PROBLEM, { id: "Problem" });
  return { ...schemasOf(inputs, "input"), ...schemasOf(answers, "output") };
}

/** What several operations answer has the name of the first of them. */
type AnswerNames = ReadonlyMap<z.ZodType, string>;

function answerNames(routes: readonly Route[]): AnswerNames {
  const names = new Map<z.ZodType, string>();
  for (const { operation, told } of routes) {
    if (told.schema instanceof z.ZodNull || told.schema === DONE || names.has(told.schema)) continue;
    names.set(told.schema, `${pascalCase(operation.name)}Answer`);
  }
  return names;
}

type Registry = z.core.$ZodRegistry<{ id: string }>;

function schemasOf(registry: Registry, io: "input" | "output"): Json {
  const { schemas } = z.toJSONSchema(registry, { ...SCHEMA_OPTIONS, io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, plain(schema as Json, io)]));
}

/** An answer may have more in it some day; a request may not. */
function plain(schema: Json, io: "input" | "output"): Json {
  const { $schema: _schema, $id: _id, ...rest } = schema;
  return io === "input" ? rest : opened(rest);
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function inputName(operation: string): string {
  return `${pascalCase(operation)}Input`;
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
