/** Reads a request: what is sent, and how long it may take. Whether its address may be reached is judged when it is. */
import { LIMITS } from "../base/limits.js";
import { type Problem, problemAt } from "../base/problem.js";
import type { HttpTarget } from "./definition.js";
import { quote } from "./issues.js";
import { byteLength, readTimeout } from "./reading.js";
import type { RawJob } from "./shape.js";

export const HTTP_TIMEOUT_MS = 30_000;

type RawHttp = NonNullable<RawJob["http"]>;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible characters and blanks; nothing that could end the header early. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Set by whoever sends the request. */
const OWN_HEADERS =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|idempotency-key|x-kron-.*)$/;

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

export function readHttp(raw: RawHttp, problems: Problem[]): HttpTarget {
  const method = raw.method ?? "GET";
  const problem = checkUrl(raw.url);
  if (problem !== null) problems.push(problemAt(problem, "http", "url"));
  if (raw.body !== undefined) problems.push(...checkBody(raw.body, method));
  const timeoutMs =
    raw.timeout === undefined
      ? HTTP_TIMEOUT_MS
      : readTimeout(raw.timeout, ["http", "timeout"], LIMITS.httpTimeoutMs, problems);
  const headers = readHeaders(raw.headers, problems);
  return Object.freeze({ kind: "http", url: raw.url, method, headers, body: raw.body ?? null, timeoutMs });
}

function checkUrl(text: string): Problem | null {
  if (text.length > LIMITS.urlChars) return range(`the address is longer than ${LIMITS.urlChars} characters`);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || text.trim() !== text) {
    return range(`${quote(text)} is not an address`, "write it in full, like https://example.org/hook");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return range("an address begins with http:// or https://");
  if (url.username !== "" || url.password !== "") {
    return range("an address may not contain a user name or password", "send an Authorization header");
  }
  return url.hash === "" ? null : range("the part after # is never sent");
}

function checkBody(body: string, method: string): Problem[] {
  if (method === "GET" || method === "HEAD") {
    const message = `a ${method} request has no body`;
    return [{ code: "field-conflict", message, path: ["http", "body"], hint: "write method: POST" }];
  }
  if (byteLength(body) <= LIMITS.httpBodyBytes) return [];
  const message = `the body is longer than ${LIMITS.httpBodyBytes} bytes`;
  return [{ code: "limit-exceeded", message, path: ["http", "body"] }];
}

function readHeaders(headers: RawHttp["headers"], problems: Problem[]): Readonly<Record<string, string>> {
  if (headers === undefined) return NO_HEADERS;
  const entries = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length > LIMITS.headers) {
    const message = `${entries.length} headers, more than the limit of ${LIMITS.headers}`;
    problems.push({ code: "limit-exceeded", message, path: ["http", "headers"] });
    return NO_HEADERS;
  }
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const problem = checkHeader(name, value, seen);
    if (problem !== null) problems.push(problemAt(problem, "http", "headers", name));
  }
  return Object.freeze(Object.fromEntries(entries));
}

function checkHeader(name: string, value: string, seen: Set<string>): Problem | null {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name)) return range(`${quote(name)} is not a header name`);
  if (OWN_HEADERS.test(lower)) return range(`the header ${name} is set by Kron itself`);
  if (seen.has(lower)) return range(`the header ${name} is written twice, in different capitals`);
  seen.add(lower);
  if (!HEADER_VALUE.test(value)) return range(`the value of ${name} contains characters that headers cannot have`);
  return value.length <= LIMITS.headerBytes ? null : range(`the value of ${name} is too long`);
}

function range(message: string, hint?: string): Problem {
  return { code: "field-range", message, path: [], ...(hint === undefined ? {} : { hint }) };
}
