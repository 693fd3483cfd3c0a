import { type ErrorCategory, type ErrorCode, errorKind } from "./registry.js";

/** The parts of Kron that report trouble, as error lines name them. */
export type ErrorComponent =
  | "scheduler"
  | "executor"
  | "policy"
  | "constraints"
  | "seed"
  | "persist"
  | "config"
  | "api"
  | "governor"
  | "planner"
  | "notifier";

interface KronErrorDetails {
  readonly component: ErrorComponent;
  /** What was attempted, such as `commit` or `lock`. */
  readonly operation: string;
  readonly identity?: string;
  readonly periodId?: string;
  /** What to do about it. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/**
 * An operating failure: the machine, not the input, did not do what was asked. It carries everything that an error line
 * must say; category and fatality follow from the code.
 */
export class KronError extends Error {
  override readonly name = "KronError";
  readonly code: ErrorCode;
  readonly component: ErrorComponent;
  readonly operation: string;
  readonly identity: string | undefined;
  readonly periodId: string | undefined;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: KronErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.component = details.component;
    this.operation = details.operation;
    this.identity = details.identity;
    this.periodId = details.periodId;
    this.hint = details.hint;
  }

  get category(): ErrorCategory {
    return errorKind(this.code).category;
  }

  /** A fatal error ends the daemon at once: continuing could start something twice. */
  get isFatal(): boolean {
    return errorKind(this.code).fatal;
  }
}
