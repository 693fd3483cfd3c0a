/** What an API server answers when it does not do what was asked, and what it means for the one who asked. */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { ErrorCode } from "../../core/base/errors/registry.js";

export interface ApiAnswer {
  readonly status: number;
  /** The `reason` of a Status object, such as AlreadyExists. */
  readonly reason: string;
  readonly message: string;
  /** The server's wish; null: none. */
  readonly retryAfterMs: number | null;
}

/** An answer that is no success. Network trouble has the status 0: whether the request was carried out is not known. */
export class ApiFailure extends KronError {
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer, operation: string, namespace?: string) {
    super(codeOf(answer), textOf(answer, operation, namespace), { component: "api", operation });
    this.answer = answer;
  }

  get isGone(): boolean {
    return this.answer.status === 404;
  }

  get isConflict(): boolean {
    return this.answer.status === 409;
  }

  /** A watch that is too old: what happened since cannot be told any more. */
  get isExpired(): boolean {
    return this.answer.status === 410 || (this.answer.status === 504 && this.answer.reason === "Expired");
  }
}

/** A right that is missing is named as a role would name it: verb, resource, namespace. */
function textOf({ status, reason, message }: ApiAnswer, operation: string, namespace: string | undefined): string {
  if (status === 0) return `${operation}: ${message}`;
  if (status !== 403) return `${operation}: ${status} ${reason}: ${message}`;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  return `needs ${operation.replace(" ", " on ")}${where}: ${message}`;
}

function codeOf({ status }: ApiAnswer): ErrorCode {
  return status === 401 || status === 403 ? "cluster-forbidden" : "cluster-unreachable";
}

interface StatusObject {
  readonly reason?: string;
  readonly message?: string;
  readonly code?: number;
}

export function answerOf(status: number, body: unknown, retryAfter: string | undefined): ApiAnswer {
  const { reason = "", message = "" } = typeof body === "object" && body !== null ? (body as StatusObject) : {};
  const seconds = Number(retryAfter ?? Number.NaN);
  return { status, reason, message, retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null };
}
