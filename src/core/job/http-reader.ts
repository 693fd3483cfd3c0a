/** Reads a request: what is sent, and how long it may take. Whether its address may be reached is judged when it is. */
import { LIMITS } from "../base/limits.js";
import { type Problem, problemAt } from "../base/problem.js";
import { readBodyRule } from "./body-rule.js";
import type { HttpTarget, SecretRef, TlsFiles } from "./definition.js";
import { quote } from "./issues.js";
import { byteLength, readTimeout, take } from "./reading.js";
import type { RawJob } from "./shape.js";
import { formatSize, parseSize } from "./size.js";
import { readStatuses } from "./status-reader.js";

const HTTP_TIMEOUT_MS = 30_000;

type RawHttp = NonNullable<RawJob["http"]>;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible characters and blanks; nothing that could end the header early. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Set by whoever sends the request. */
const OWN_HEADERS =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|idempotency-key|x-kron-.*|webhook-.*)$/;

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
const NO_SECRETS: HttpTarget["secretHeaders"] = Object.freeze({});
const NO_TLS: TlsFiles = Object.freeze({ caFile: null, certFile: null, keyFile: null });
const SECRET_FIELDS = [
  ["header_files", "file"],
  ["header_env", "env"],
] as const;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SEALED = /^sealed:v\d{1,3}:[\w-]{1,100000}$/;

const RESPONSE_BYTES = { usual: 1_000_000, ...LIMITS.httpResponseBytes };
const EXCERPT_BYTES = { usual: 512, min: 0, max: LIMITS.excerptBytes };

export function readHttp(raw: RawHttp, problems: Problem[]): HttpTarget {
  const method = raw.method ?? "GET";
  const problem = checkUrl(raw.url);
  if (problem !== null) problems.push(problemAt(problem, "http", "url"));
  if (raw.body !== undefined) problems.push(...checkBody(raw.body, method));
  const timeoutMs =
    raw.timeout === undefined
      ? HTTP_TIMEOUT_MS
      : readTimeout(raw.timeout, ["http", "timeout"], LIMITS.httpTimeoutMs, problems);
  const seen = new Set<string>();
  const successBody = readBodyRule(raw, problems);
  return Object.freeze({
    kind: "http",
    url: raw.url,
    method,
    headers: readHeaders(raw.headers, seen, problems),
    secretHeaders: readSecretHeaders(raw, seen, problems),
    body: raw.body ?? null,
    timeoutMs,
    maxResponseBytes: readBytes(raw.max_response, "max_response", RESPONSE_BYTES, problems),
    excerptBytes: readBytes(raw.excerpt, "excerpt", EXCERPT_BYTES, problems),
    success: readStatuses(raw.success, problems),
    ...(successBody === null ? {} : { successBody }),
    signature: readSignature(raw.signature, problems),
    tls: readTls(raw, problems),
    by: raw.by ?? "krond",
  });
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

function readHeaders(
  headers: RawHttp["headers"],
  seen: Set<string>,
  problems: Problem[],
): Readonly<Record<string, string>> {
  const entries = headerEntries(headers, "headers", problems);
  for (const [name, value] of entries) {
    const problem = checkHeader(name, seen) ?? checkHeaderValue(name, value);
    if (problem !== null) problems.push(problemAt(problem, "http", "headers", name));
  }
  return entries.length === 0 ? NO_HEADERS : Object.freeze(Object.fromEntries(entries));
}

function headerEntries(
  headers: RawHttp["headers"],
  field: string,
  problems: Problem[],
): readonly (readonly [string, string])[] {
  const entries = Object.entries(headers ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length <= LIMITS.headers) return entries;
  const message = `${entries.length} headers, more than the limit of ${LIMITS.headers}`;
  problems.push({ code: "limit-exceeded", message, path: ["http", field] });
  return [];
}

/** The names of headers, and where their values are found. */
function readSecretHeaders(raw: RawHttp, seen: Set<string>, problems: Problem[]): HttpTarget["secretHeaders"] {
  const secrets: [string, SecretRef][] = [];
  for (const [field, from] of SECRET_FIELDS) {
    for (const [header, name] of headerEntries(raw[field], field, problems)) {
      const problem = checkHeader(header, seen) ?? checkSecret({ from, name });
      if (problem !== null) problems.push(problemAt(problem, "http", field, header));
      secrets.push([header, Object.freeze({ from, name })]);
    }
  }
  return secrets.length === 0 ? NO_SECRETS : Object.freeze(Object.fromEntries(secrets));
}

function checkSecret({ from, name }: SecretRef): Problem | null {
  if (from === "file") return checkPath(name);
  if (from === "sealed") return SEALED.test(name) ? null : range("that is nothing that this daemon has sealed");
  if (ENV_NAME.test(name)) return null;
  return range(`${quote(name)} is not the name of an environment variable`, "the value itself never stands here");
}

function checkPath(path: string): Problem | null {
  if (!path.startsWith("/")) return range("a file is named by an absolute path");
  if (byteLength(path) > LIMITS.pathBytes) return range(`the path is longer than ${LIMITS.pathBytes} bytes`);
  return path.includes("\0") ? range("the path holds a NUL character") : null;
}

function readSignature(raw: RawHttp["signature"], problems: Problem[]): SecretRef | null {
  if (raw === undefined) return null;
  const { secret_file: file, secret_env: env, secret_sealed: sealed } = raw;
  const all: readonly (readonly [SecretRef["from"], string | undefined])[] = [
    ["file", file],
    ["env", env],
    ["sealed", sealed],
  ];
  const named = all.flatMap(([from, name]) => (name === undefined ? [] : [{ from, name }]));
  const [first, ...others] = named;
  if (first === undefined || others.length > 0) {
    const message = "a signature has a secret_file or a secret_env";
    problems.push({ code: "field-conflict", message, path: ["http", "signature"] });
    return null;
  }
  const secret: SecretRef = Object.freeze(first);
  const problem = checkSecret(secret);
  if (problem !== null) problems.push(problemAt(problem, "http", "signature", `secret_${secret.from}`));
  return secret;
}

function readTls(raw: RawHttp, problems: Problem[]): TlsFiles {
  const fields = ["ca_file", "client_cert_file", "client_key_file"] as const;
  for (const field of fields) {
    const path = raw[field];
    const problem = path === undefined ? null : checkPath(path);
    if (problem !== null) problems.push(problemAt(problem, "http", field));
  }
  const isPlain = fields.every((field) => raw[field] === undefined);
  if (isPlain) return NO_TLS;
  if (raw.url.startsWith("http:")) {
    const message = "certificates are for addresses that begin with https://";
    problems.push({ code: "field-conflict", message, path: ["http", "url"] });
  }
  if ((raw.client_cert_file === undefined) !== (raw.client_key_file === undefined)) {
    const message = "a certificate and its key go together: client_cert_file and client_key_file";
    problems.push({ code: "field-conflict", message, path: ["http"] });
  }
  const { ca_file: caFile = null, client_cert_file: certFile = null, client_key_file: keyFile = null } = raw;
  return Object.freeze({ caFile, certFile, keyFile });
}

interface ByteBounds {
  readonly usual: number;
  readonly min: number;
  readonly max: number;
}

function readBytes(
  text: string | undefined,
  field: string,
  { usual, min, max }: ByteBounds,
  problems: Problem[],
): number {
  if (text === undefined) return usual;
  const bytes = take(parseSize(text), ["http", field], usual, problems);
  if (bytes < min || bytes > max) {
    const message = `must be between ${formatSize(min)} and ${formatSize(max)}`;
    problems.push({ code: "field-range", message, path: ["http", field] });
  }
  return bytes;
}

function checkHeader(name: string, seen: Set<string>): Problem | null {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name)) return range(`${quote(name)} is not a header name`);
  if (OWN_HEADERS.test(lower)) return range(`the header ${name} is set by Kron itself`);
  if (seen.has(lower)) return range(`the header ${name} is written twice, in different capitals or places`);
  seen.add(lower);
  return null;
}

function checkHeaderValue(name: string, value: string): Problem | null {
  if (!isHeaderValue(value)) return range(`the value of ${name} contains characters that headers cannot have`);
  return value.length <= LIMITS.headerBytes ? null : range(`the value of ${name} is too long`);
}

export function isHeaderValue(value: string): boolean {
  return HEADER_VALUE.test(value);
}

function range(message: string, hint?: string): Problem {
  return { code: "field-range", message, path: [], ...(hint === undefined ? {} : { hint }) };
}
