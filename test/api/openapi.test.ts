/** The document that the API serves of itself: valid to others' eyes, true of what is answered, and enough for a client. */
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApiOf } from "../../src/api/http/openapi.js";
import { routeOf } from "../../src/api/http/routes.js";
import type { Operation } from "../../src/operations/operation.js";
import { OPERATIONS } from "../../src/operations/registry.js";
import { job } from "../support/place.js";
import { type ApiDocument, type Documented, judgeOf } from "./support/answers.js";
import { apiDaemon } from "./support/daemon.js";
import { type Receiver, receiverOf, samples, thingsOf } from "./support/routes.js";

const IDENTITY = "t/good";
const daemon = apiDaemon({ jobs: `${job(IDENTITY, "true")}http: { allow: ["127.0.0.1"] }\n` });
const ROOT = path.resolve(import.meta.dirname, "../..");

let document: ApiDocument;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await receiverOf();
  document = (await daemon.send("GET", "/api/v1/openapi.json")).body;
});
afterAll(() => receiver.close());

function documented(): readonly Documented[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods));
}

describe("the document", () => {
  test("is OpenAPI 3.1, and holds every route once", async () => {
    expect(document.openapi).toBe("3.1.0");
    const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    const ids = documented().map(({ operationId }) => operationId);
    expect(ids.sort()).toEqual([...OPERATIONS.map(({ name }) => name), "events", "inspect"].sort());
    for (const { operationId, parameters, responses } of documented()) {
      const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect([operationId, names.length]).toEqual([operationId, new Set(names).size]);
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(["4XX", "5XX"]));
    }
  });

  test("what is said of a field is said of it in an address too", () => {
    const operations = OPERATIONS.filter(({ name }) => name === "endpoints.run" || name === "endpoints.list");
    const { paths } = openApiOf((operations as unknown as readonly Operation[]).map(routeOf)) as unknown as ApiDocument;
    const told = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ parameters }) => parameters.map(({ name, schema }) => [name, schema?.description]));
    expect(told).toContainEqual(["wait", expect.stringContaining("waits for the end of the run")]);
    expect(told).toContainEqual(["tag", "Those that have it."]);
    expect(told).toContainEqual(["name", "Of the job, the one of this name, or none."]);
  });

  test("is the same after a restart, and asked for with anything else is refused", async () => {
    const again = await daemon.send("GET", "/api/v1/openapi.json");
    expect(again.text).toBe(JSON.stringify(document));
    expect((await daemon.send("GET", "/api/v1/openapi.json?pretty=1")).status).toBe(400);
  });
});

describe("every answer", () => {
  test("is what the document says", async () => {
    const things = await thingsOf(daemon, "acme", receiver.url);
    const isRight = judgeOf(document);
    const [host, tenant] = [await daemon.key(null, "admin"), await daemon.key("acme", "admin")];
    const wrong: unknown[] = [];
    for (const { op, method, path: url, body } of samples(things, IDENTITY).filter(
      ({ op, status }) => op !== "stop" && status < 400,
    )) {
      const key = OPERATIONS.some(({ name, of }) => name === op && of === "host") ? host.key : tenant.key;
      const reply = await daemon.send(method, `/api/v1${url}`, { key, body });
      const found = isRight(method, `/api/v1${url}`, reply.status, reply.text === "" ? null : reply.body);
      if (found !== null) wrong.push([op, reply.status, reply.text, found]);
    }
    expect(wrong).toEqual([]);
  });
});

const CLIENT = `
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

export async function tour(baseUrl: string, key: string, url: string) {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } });
  const made = await client.POST("/api/v1/jobs", { body: { name: "made by a client" } });
  if (made.data === undefined) throw new Error(made.error.detail);
  const jobId: string = made.data.id;
  const path = { jobId };
  const endpoint = await client.POST("/api/v1/jobs/{jobId}/endpoints", {
    params: { path, header: { "Idempotency-Key": "one" } },
    body: { name: "users", url, baselineIntervalMs: 300_000, tags: ["a"] },
  });
  if (endpoint.data === undefined) throw new Error(endpoint.error.detail);
  const endpointId = endpoint.data.id;
  const next: string | null = endpoint.data.nextRunAt;
  const ran = await client.POST("/api/v1/endpoints/{endpointId}/run", { params: { path: { endpointId } }, body: {} });
  const hinted = await client.PUT("/api/v1/endpoints/{endpointId}/hints/interval", {
    params: { path: { endpointId } },
    body: { intervalMs: 60_000, ttlMinutes: 5, reason: "errors" },
  });
  const interval: number | undefined = hinted.data?.interval?.intervalMs;
  const changed = await client.PATCH("/api/v1/endpoints/{endpointId}", {
    params: { path: { endpointId }, header: { "If-Match": '"1"' } },
    body: { timeoutMs: 5_000 },
  });
  const runs = await client.GET("/api/v1/runs", { params: { query: { status: ["success", "failure"], limit: 10 } } });
  const statuses = runs.data?.rows.map(({ status }) => status);
  const missing = await client.GET("/api/v1/jobs/{jobId}", { params: { path: { jobId: "job_0000000000000000" } } });
  const code: string | undefined = missing.error?.code;
  const gone = await client.DELETE("/api/v1/jobs/{jobId}", { params: { path, query: { force: true } } });
  return { next, runId: ran.data?.runId, interval, version: changed.data?.version, statuses, code, gone: gone.response.status };
}
`;

/** Each of these is no request that the API takes, and its types say so. */
const WRONG = `
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";
const client = createClient<paths>({ baseUrl: "" });
// @ts-expect-error: no such path
void client.GET("/api/v1/nothing", {});
// @ts-expect-error: a number for a text
void client.POST("/api/v1/jobs", { body: { name: 7 } });
// @ts-expect-error: its body is needed
void client.POST("/api/v1/jobs", {});
// @ts-expect-error: no such status
void client.GET("/api/v1/runs", { params: { query: { status: ["broken"] } } });
// @ts-expect-error: no such field
void client.GET("/api/v1/limits", {}).then(({ data }) => data?.colour);
`;

describe("a client that is generated from it", () => {
  const home = path.join(ROOT, "node_modules/.cache/kron-test", `client-${process.pid}`);
  afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

  test("has the types of every request and answer, and its requests are understood", async () => {
    fs.mkdirSync(home, { recursive: true });
    const file = (name: string): string => path.join(home, name);
    const schema = astToString(await openapiTS(document as unknown as OpenAPI3, { defaultNonNullable: false }));
    const texts = { "schema.ts": schema, "client.ts": CLIENT, "wrong.ts": WRONG };
    for (const [name, text] of Object.entries(texts)) fs.writeFileSync(file(name), text);
    expect(problemsOf(Object.keys(texts).map(file), home)).toEqual([]);
    const { tour } = await import(pathToFileURL(file("client.js")).href);
    const { key } = await daemon.key("client", "write");
    const seen = await tour(`http://${daemon.address}`, key, receiver.url);
    expect(seen).toMatchObject({ interval: 60_000, version: 2, code: "not-found", gone: 204 });
    expect(seen.runId).toMatch(/^run_/);
    expect(seen.next).toMatch(/Z$/);
  });
});

/** Compiles them, strictly. */
function problemsOf(files: readonly string[], outDir: string): readonly string[] {
  const program = ts.createProgram(files, {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: ["node"],
    outDir,
  });
  const found = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  return found.map(({ messageText, file, start }) => {
    return `${path.basename(file?.fileName ?? "")}:${start}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}
