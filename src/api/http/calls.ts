/** One request to an operation: read, judged, carried out and answered. */
import type { IncomingMessage } from "node:http";
import { answerAsked, isTooLate } from "../../operations/answer.js";
import type { Operation } from "../../operations/operation.js";
import type { Acting } from "../../operations/ports.js";
import { isRehearsal } from "../../operations/rehearsal.js";
import { type Asked, type Fields, inputOf, ownerOf, readTaken, toldAnswer } from "../form/asked.js";
import { MOST_ERRORS, unknownField } from "../form/issues.js";
import { readPathParameter, readQuery } from "../form/parameters.js";
import { API_LIMITS } from "../limits.js";
import { type Answer, JSON_TYPES } from "./answer.js";
import { type Holder, mayAsk } from "./authority.js";
import { isSent, mustBeJson, parseBody } from "./body.js";
import type { CursorSeal } from "./cursor.js";
import type { Idempotency } from "./idempotency.js";
import { type FieldError, HttpProblem, pointerOf, retryAfter, wrongFields } from "./problem.js";
import type { Route } from "./routes.js";

const STOPPING_RETRY_MS = 5_000;

interface Call {
  readonly request: IncomingMessage;
  readonly route: Route;
  /** Of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: string;
  readonly holder: Holder;
  /** Aborted when the client cannot be answered any more. */
  readonly gone: AbortSignal;
}

interface CallPorts {
  readonly acting: Acting;
  readonly idempotency: Idempotency;
  readonly cursors: CursorSeal;
  /** A body, within the bounds of bodies. */
  read(request: IncomingMessage): Promise<Buffer>;
  /** An answer to what went wrong, which is an answer like any other to whoever asks again. */
  refuse(error: unknown): Answer;
}

export async function answerCall(call: Call, ports: CallPorts): Promise<Answer> {
  const { request, route, holder } = call;
  const { operation } = route;
  const tenant = mayAsk(holder, operation, textHeader(request, "kron-tenant"));
  mustBeInTime(operation, ports.acting);
  const body = await bodyOf(call, ports);
  const taken = takenFrom(call, body);
  const owner = ownerOf(tenant);
  const asked: AskedFor = { taken, owner, cursors: ports.cursors, tenant };
  const key = route.method === "POST" ? idempotencyKey(request) : null;
  // What changes nothing may be asked for again as it is.
  if (key === null || operation.access === "read" || taken["dryRun"] === true) return carriedOut(call, asked, ports);
  // Judged before anything is noted: what cannot be understood was never begun.
  inputOf(operation, asked);
  const repeatable = { owner, key, request: requestText(call, body), isShownOnce: operation.http.isShownOnce === true };
  return ports.idempotency.once(repeatable, () => carriedOut(call, asked, ports).catch((error) => ports.refuse(error)));
}

/** Nothing begins any more while a daemon drains. */
export function mustBeInTime(operation: Operation, acting: Pick<Acting, "presence">): void {
  if (!isTooLate(operation, acting)) return;
  const more = { headers: retryAfter(STOPPING_RETRY_MS) };
  throw new HttpProblem("stopping", "the daemon is stopping: it starts nothing any more", more);
}

interface AskedFor extends Asked {
  readonly tenant: string | null;
}

async function bodyOf({ request, route }: Call, ports: CallPorts): Promise<Buffer> {
  if (!isSent(request)) return Buffer.alloc(0);
  if (route.inBody.size === 0 && route.method !== "POST") {
    throw new HttpProblem("request-malformed", `${route.method} takes no body here`);
  }
  mustBeJson(request);
  return ports.read(request);
}

/** Path, query and body are one object, which the schema reads. */
function takenFrom({ request, route, parameters, query }: Call, body: Buffer): Fields {
  const { taken, inPath, inQuery, inBody } = route;
  const sent = body.length === 0 ? {} : parseBody(body);
  const known = Object.entries(sent).filter(([name]) => inBody.has(name));
  const fields: Record<string, unknown> = { ...Object.fromEntries(known), ...readQuery(query, taken, inQuery) };
  for (const name of inPath) fields[name] = readPathParameter(name, parameters[name] ?? "", taken);
  if (route.operation.http.takesIfMatch === true) Object.assign(fields, versionOf(request));
  const strays = Object.keys(sent).filter((name) => !inBody.has(name));
  if (strays.length === 0) return readTaken(route, fields);
  const unknown = strays.slice(0, MOST_ERRORS).map((name) => strayField(name, route));
  throw wrongFields([...unknown, ...errorsOfKnown(route, fields)].slice(0, MOST_ERRORS));
}

/** What is wrong with the fields that there are is told along with those that there are not. */
function errorsOfKnown(route: Route, fields: Fields): readonly FieldError[] {
  try {
    readTaken(route, fields);
    return [];
  } catch (error) {
    if (error instanceof HttpProblem) return error.errors;
    throw error;
  }
}

function strayField(name: string, { inPath, inQuery, inBody }: Route): FieldError {
  const pointer = pointerOf([name]);
  const isElsewhere = inPath.includes(name) || inQuery.has(name);
  if (!isElsewhere) return unknownField(pointer, name, [...inBody]);
  return { pointer, code: "field-unknown", message: "it stands in the address, not in the body" };
}

async function carriedOut(call: Call, asked: AskedFor, { acting }: CallPorts): Promise<Answer> {
  const { route, holder, request, gone } = call;
  const { operation } = route;
  const input = inputOf(operation, asked);
  const caller = { tenant: asked.tenant ?? "", keyId: holder.keyId, scope: holder.scope, gone };
  const found = await answerAsked({ operation, input }, acting, caller);
  if (found === null || found === undefined) return { status: 204, headers: {}, body: null };
  const version = operation.http.etag?.(found as never);
  const headers = version === undefined ? {} : { ETag: `"${version}"` };
  if (operation.http.isAllByVersion === true && version !== undefined && isKnown(request, version)) {
    return { status: 304, headers, body: null };
  }
  const { makes, isPending } = operation.http;
  const isMade = typeof makes === "function" ? makes(found as never, input as never) : makes === true;
  const isDone = !isRehearsal(input);
  const status = isPending?.(found as never, input as never) === true ? 202 : isMade && isDone ? 201 : 200;
  const body = JSON.stringify(toldAnswer(route, found, asked));
  return { status, headers: { "Content-Type": JSON_TYPES.json, ...headers }, body };
}

/** No version is called so. */
const NO_VERSION = -1;

/** Which version is to be changed, where somebody says so. */
function versionOf(request: IncomingMessage): Fields {
  const [match, none] = [textHeader(request, "if-match"), textHeader(request, "if-none-match")];
  if (none !== undefined) {
    if (none.trim() === "*" && match === undefined && request.method === "PUT") return { ifMatch: 0 };
    throw new HttpProblem("request-malformed", "If-None-Match of a change is *, with PUT, and without If-Match");
  }
  if (match === undefined) return {};
  if (match.trim() === "*") return { ifMatch: "*" };
  const tag = /^\s*(?:W\/)?"([^"]*)"\s*$/.exec(match)?.[1];
  if (tag === undefined)
    throw new HttpProblem("request-malformed", "If-Match is one entity tag, as ETag gave it, or *");
  return { ifMatch: /^[1-9]\d{0,14}$/.test(tag) ? Number(tag) : NO_VERSION };
}

function isKnown(request: IncomingMessage, version: string): boolean {
  const tags = (textHeader(request, "if-none-match") ?? "").split(",");
  return tags.some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === `"${version}"`);
}

function idempotencyKey(request: IncomingMessage): string | null {
  const text = textHeader(request, "idempotency-key");
  if (text === undefined) return null;
  if (text.length <= API_LIMITS.idempotencyKeyChars && /^[\x21-\x7e]+$/.test(text)) return text;
  const most = API_LIMITS.idempotencyKeyChars;
  throw new HttpProblem("request-malformed", `Idempotency-Key is of 1 to ${most} printable characters`);
}

export function textHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

function requestText({ route, parameters, query }: Call, body: Buffer): string {
  return JSON.stringify([route.operation.name, parameters, query, body.toString("base64")]);
}
