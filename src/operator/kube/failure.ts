/** What an API server answers when it does not do what was asked, and what it means for the one who asked. */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { ErrorCode } from "../../core/base/errors/registry.js";
import { GROUP, PLURAL } from "../identity.js";

interface ApiAnswer {
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
  readonly namespace: string | null;

  constructor(answer: ApiAnswer, operation: string, namespace?: string) {
    super(codeOf(answer), textOf(answer, operation, namespace), { component: "api", operation });
    this.answer = answer;
    this.namespace = namespace ?? null;
  }

  get isGone(): boolean {
    return this.answer.status === 404;
  }

  get isConflict(): boolean {
    return this.answer.status === 409;
  }

  /** The right to do it. Other trouble than that is a 403, too. */
  get isRightMissing(): boolean {
    return lackedRight(this.answer, "") !== null;
  }

  /** A namespace that is being deleted takes nothing new. */
  get isNamespaceEnding(): boolean {
    return this.answer.status === 403 && this.answer.message.includes("because it is being terminated");
  }

  /** A watch that is too old: what happened since cannot be told any more. */
  get isExpired(): boolean {
    return this.answer.status === 410 || (this.answer.status === 504 && this.answer.reason === "Expired");
  }
}

/** What every authorizer's refusal says; what an admission rule, a quota or a namespace that ends refuses, does not. */
const LACKED_RIGHT = /User "[^"]*" cannot /;
/** Where OwnerReferencesPermissionEnforcement is on: refused is the Job, missing is a right on its owner. */
const LACKED_FINALIZERS = "you can't set finalizers on";

/** Of a 403: the right that would help, as an operation; null: none would. */
function lackedRight({ status, message }: ApiAnswer, operation: string): string | null {
  if (status !== 403) return null;
  if (message.includes(LACKED_FINALIZERS)) return `update ${PLURAL}.${GROUP}/finalizers`;
  return LACKED_RIGHT.test(message) ? operation : null;
}

/** A right that is missing is named as a role would name it: verb, resource, namespace. */
function textOf(answer: ApiAnswer, operation: string, namespace: string | undefined): string {
  const { status, reason, message } = answer;
  if (status === 0) return `${operation}: ${message}`;
  const right = lackedRight(answer, operation);
  if (right === null) return `${operation}: ${status} ${reason}: ${message}`;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  return `needs ${right.replace(" ", " on ")}${where}: ${message}`;
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
