/**
 * A question or a command, once: what it is called, what it takes and answers, who may ask it, where it is asked for over
 * HTTP, and what it does. The control socket and the API carry requests to it, and commands run those that only read over
 * the store when no daemon does.
 */
import type { z } from "zod";
import type { Problem } from "../core/base/problem.js";
import type { HttpRoute } from "./http.js";
import type { Acting, Reading } from "./ports.js";
import type { Scope } from "./scope.js";

/** `read` changes nothing; `operate` touches jobs; `admin` touches the daemon. */
type Access = "read" | "operate" | "admin";

export const SCOPE_FOR: Readonly<Record<Access, Scope>> = { read: "read", operate: "write", admin: "admin" };

/** Who asks for something of a tenant. */
export interface Caller {
  readonly tenant: string;
  /** null: whoever runs the daemon. */
  readonly keyId: string | null;
  readonly scope: Scope;
  /** Aborted when there is nobody to answer any more; absent: whoever asks is there until the end. */
  readonly gone?: AbortSignal;
}

interface About<Name extends string, Input extends z.ZodType> {
  readonly name: Name;
  readonly summary: string;
  readonly input: Input;
  /** Of what it answers. */
  readonly output: z.ZodType;
  readonly http: HttpRoute;
  /** What it does cannot be taken back, although nothing is replaced or deleted. */
  readonly isDestructive?: true;
  /** It begins something whose effects are not ours: a command, or a request to somebody else. */
  readonly reachesOut?: true;
  /** Part of how programs work together: of no use to a person, nor to a model that works for one. */
  readonly isForWorkers?: true;
  /**
   * When it is put on record who has changed something by it: afterwards, but for what ends the one that keeps the record, and
   * for what is done all the time.
   */
  readonly audited?: "before" | "never";
}

/** Answered from what is on record, with or without a daemon. */
export interface StoreOperation<Name extends string = string, Input extends z.ZodType = z.ZodType, Answer = unknown>
  extends About<Name, Input> {
  readonly of: "host";
  readonly access: "read";
  readonly needs: "store";
  run(input: z.output<Input>, ports: Reading): Promise<Answer>;
}

/** Only a daemon can do it. */
export interface DaemonOperation<Name extends string = string, Input extends z.ZodType = z.ZodType, Answer = unknown>
  extends About<Name, Input> {
  readonly of: "host";
  readonly access: Access;
  readonly needs: "daemon";
  /** While the daemon is stopping it is refused: nothing begins any more. */
  readonly beginsSomething: boolean;
  run(input: z.output<Input>, ports: Acting, by: Pick<Caller, "keyId">): Promise<Answer>;
}

/** Of what belongs to a tenant: it sees nothing of any other. */
export interface TenantOperation<Name extends string = string, Input extends z.ZodType = z.ZodType, Answer = unknown>
  extends About<Name, Input> {
  readonly of: "tenant";
  readonly access: Access;
  readonly needs: "daemon";
  readonly beginsSomething: boolean;
  run(input: z.output<Input>, ports: Acting, caller: Caller): Promise<Answer>;
  /** What whoever has asked may still wait for, once it is done and on record who has asked for it. */
  waitFor?(done: Answer, input: z.output<Input>, ports: Acting, caller: Caller): Promise<Answer>;
}

export type Operation = StoreOperation | DaemonOperation | TenantOperation;

export function storeOperation<const Name extends string, Input extends z.ZodType, Answer>(
  operation: Omit<StoreOperation<Name, Input, Answer>, "of" | "access" | "needs">,
): StoreOperation<Name, Input, Answer> {
  return { ...operation, of: "host", access: "read", needs: "store" };
}

export function daemonOperation<const Name extends string, Input extends z.ZodType, Answer>(
  operation: Omit<DaemonOperation<Name, Input, Answer>, "of" | "needs">,
): DaemonOperation<Name, Input, Answer> {
  return { ...operation, of: "host", needs: "daemon" };
}

export function tenantOperation<const Name extends string, Input extends z.ZodType, Answer>(
  operation: Omit<TenantOperation<Name, Input, Answer>, "of" | "needs">,
): TenantOperation<Name, Input, Answer> {
  return { ...operation, of: "tenant", needs: "daemon" };
}

/**
 * `not-found`: no such job; `refused`: it cannot be done now; `bad-request`; `conflict`: somebody else has it already; `stale`:
 * it was changed since; `forbidden`; `exhausted`: too much of it for now; `failed`: an operating failure.
 */
export type OperationErrorKind =
  | "not-found"
  | "refused"
  | "bad-request"
  | "conflict"
  | "stale"
  | "forbidden"
  | "exhausted"
  | "failed";

interface OperationErrorMore {
  /** What is wrong with the input, field by field. */
  readonly problems?: readonly Problem[];
  /** When it may be asked again. */
  readonly retryAfterMs?: number;
}

/** Why an operation is not carried out. */
export class OperationError extends Error {
  readonly problems: readonly Problem[];
  readonly retryAfterMs: number | null;

  constructor(
    readonly kind: OperationErrorKind,
    message: string,
    readonly hint?: string,
    { problems = [], retryAfterMs }: OperationErrorMore = {},
  ) {
    super(message);
    this.name = "OperationError";
    this.problems = problems;
    this.retryAfterMs = retryAfterMs ?? null;
  }
}
