/**
 * What is spoken over the control socket: the daemon says hello, then each line is a request and each answer a line. The
 * version is the daemon's word; a client that does not know it goes no further. Every command that asks the daemon loads
 * this file, so it imports nothing that runs.
 */
import type { Problem } from "../core/base/problem.js";
import type { OperationErrorKind } from "../operations/operation.js";

export const CONTROL_VERSION = 2;

export const CONTROL_LIMITS = {
  /** Of one request line: an endpoint with the longest body there is, escaped. */
  requestBytes: 2.5 * 1024 * 1024,
  connections: 64,
  /** Requests of one connection that are being answered; more are not read before. */
  underWay: 256,
  /** Without a request a connection is closed. */
  idleMs: 60_000,
  /** What a client waits for the daemon's hello. */
  helloMs: 5_000,
  /** What a client waits for an answer. */
  answerMs: 60_000,
} as const;

export interface ControlHello {
  readonly krond: typeof CONTROL_VERSION;
  readonly version: string;
  readonly pid: number;
}

/** Of an operation that is not carried out. */
export type ControlErrorKind = OperationErrorKind;

export type ControlAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly kind: ControlErrorKind;
      readonly message: string;
      readonly hint?: string;
      /** What is wrong with the request, field by field; absent: it is not about fields. */
      readonly problems?: readonly Problem[];
    };

export function isHello(value: unknown): value is ControlHello {
  return typeof value === "object" && value !== null && "krond" in value && value.krond === CONTROL_VERSION;
}
