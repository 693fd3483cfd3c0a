/** What a client is told when it does not get what it has asked for (RFC 9457). */
import { STATUS_CODES } from "node:http";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Problem } from "../../core/base/problem.js";
import { OperationError, type OperationErrorKind } from "../../operations/operation.js";
import { type Answer, JSON_TYPES } from "./answer.js";

/** Every kind of problem that the door itself finds, and the status that goes with it. */
const STATUS_OF = {
  "request-malformed": 400,
  "input-invalid": 400,
  "key-missing": 401,
  "session-over": 401,
  "login-refused": 401,
  "key-invalid": 401,
  "key-expired": 401,
  "key-revoked": 401,
  "origin-forbidden": 403,
  "scope-missing": 403,
  "key-of-another-kind": 403,
  forbidden: 403,
  "route-unknown": 404,
  "not-found": 404,
  "method-not-allowed": 405,
  "request-timeout": 408,
  refused: 409,
  conflict: 409,
  "idempotency-conflict": 409,
  "idempotency-in-progress": 409,
  "idempotency-fate-unknown": 409,
  "idempotency-answer-not-kept": 409,
  stale: 412,
  "body-too-large": 413,
  "address-too-long": 414,
  "content-type-unsupported": 415,
  "host-unknown": 421,
  "rate-exceeded": 429,
  "wrong-keys-exceeded": 429,
  exhausted: 429,
  "headers-too-large": 431,
  internal: 500,
  stopping: 503,
  unattended: 503,
  "streams-exceeded": 503,
  "bodies-exceeded": 503,
  "node-silent": 504,
} as const;
export type ProblemCode = keyof typeof STATUS_OF;

/** What is wrong with one field. */
export interface FieldError {
  /** JSON Pointer into what was sent: body, query and path together are one object. */
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

interface More {
  readonly errors?: readonly FieldError[];
  readonly hint?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown wherever it is found; whoever serves the request makes an answer of it. */
export class HttpProblem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly errors: readonly FieldError[];
  readonly hint: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, { errors = [], hint, headers = {} }: More = {}) {
    super(detail);
    this.name = "HttpProblem";
    this.code = code;
    this.status = STATUS_OF[code];
    this.errors = errors;
    this.hint = hint ?? null;
    this.headers = headers;
  }
}

/** Of a name that would be read once. */
export const TWICE = { code: "field-duplicate", message: "is written twice" } as const;

/** Whatever is wrong with fields is told alike: the first of them, and how many there are beside it. */
export function wrongFields(errors: readonly FieldError[]): HttpProblem {
  return new HttpProblem("input-invalid", detailOf(errors), { errors });
}

function detailOf(errors: readonly FieldError[]): string {
  const [first] = errors;
  if (first === undefined) return "the input is not what its schema says";
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : "";
  return `${first.pointer === "" ? "" : `${first.pointer}: `}${first.message}${more}`;
}

const CODE_OF_KIND: Readonly<Record<OperationErrorKind, ProblemCode>> = {
  "not-found": "not-found",
  refused: "refused",
  "bad-request": "input-invalid",
  conflict: "conflict",
  stale: "stale",
  forbidden: "forbidden",
  exhausted: "exhausted",
  failed: "internal",
};

/** null: it is a trouble of ours, and nobody else is told more of it. */
export function problemOf(error: unknown): HttpProblem | null {
  if (error instanceof HttpProblem) return error;
  if (error instanceof KronError) return betweenNodes(error);
  if (!(error instanceof OperationError)) return null;
  const { kind, message, hint, problems, retryAfterMs } = error;
  const errors = problems.map(fieldError);
  const more = {
    errors,
    ...(hint === undefined ? {} : { hint }),
    headers: retryAfterMs === null ? {} : retryAfter(retryAfterMs),
  };
  // Where fields are named, it is they that are wrong, and not the moment.
  const isInput = kind === "refused" && problems.length > 0;
  const detail = errors.length === 0 ? message : detailOf(errors);
  return new HttpProblem(isInput ? "input-invalid" : CODE_OF_KIND[kind], detail, more);
}

const AGAIN_MS = 2_000;

/** Which node it is, and why, is in the host's own answers. null: it is no trouble between nodes. */
function betweenNodes({ code }: KronError): HttpProblem | null {
  if (code === "job-unattended") {
    const hint = "its node has gone, or it is on its way from one to another: ask again";
    return new HttpProblem("unattended", "no node looks after it now", { hint, headers: retryAfter(AGAIN_MS) });
  }
  if (code !== "node-silent") return null;
  const hint = "look what there is before it is asked for again";
  return new HttpProblem("node-silent", "the node that has it did not answer: nobody knows whether it was done", {
    hint,
  });
}

/** Of trouble that is ours the host is told what it would be told at a terminal, and nobody else anything. */
export function internalProblem(error: unknown, isHost: boolean): HttpProblem {
  const hint = "the daemon's log has a line about it, with this instance";
  if (!isHost || !(error instanceof KronError))
    return new HttpProblem("internal", "something went wrong here", { hint });
  const isInput = error.category === "ConfigurationError" || error.category === "ValidationError";
  return new HttpProblem(isInput ? "refused" : "internal", error.message, { hint: error.hint ?? hint });
}

export function retryAfter(ms: number): Readonly<Record<string, string>> {
  return { "Retry-After": `${Math.max(1, Math.ceil(ms / 1000))}` };
}

/** `instance` is this one occurrence, as the log knows it too. */
export function problemAnswer(problem: HttpProblem, instance: string): Answer {
  const { status, code, message, errors, hint, headers } = problem;
  const body = {
    type: "about:blank",
    title: STATUS_CODES[status] ?? "Error",
    status,
    detail: message,
    instance,
    code,
    ...(hint === null ? {} : { hint }),
    ...(errors.length === 0 ? {} : { errors }),
  };
  return { status, headers: { "Content-Type": JSON_TYPES.problem, ...headers }, body: JSON.stringify(body) };
}

function fieldError({ code, message, path, hint }: Problem): FieldError {
  return { pointer: pointerOf(path), code, message, ...(hint === undefined ? {} : { hint }) };
}

export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
