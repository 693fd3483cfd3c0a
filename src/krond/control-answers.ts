/**
 * What is spoken over the control socket: the daemon says hello, then each line is a request and each answer a line. The
 * version is the daemon's word; a client that does not know it goes no further. Every command that asks the daemon loads
 * this file, so it imports nothing.
 */

export const CONTROL_VERSION = 2;

export const CONTROL_LIMITS = {
  /** Of one request line. */
  requestBytes: 64 * 1024,
  connections: 64,
  /** Without a request a connection is closed. */
  idleMs: 60_000,
  /** What a client waits for the daemon's hello. */
  helloMs: 5_000,
  /** What a client waits for an answer. */
  answerMs: 60_000,
  historyEntries: 10_000,
  /** Patterns, standings or tags of one list. */
  filterWords: 64,
} as const;

export interface ControlHello {
  readonly krond: typeof CONTROL_VERSION;
  readonly version: string;
  readonly pid: number;
}

/** `not-found`: no such job; `refused`: it cannot be done now; `bad-request`; `failed`: an operating failure. */
export type ControlErrorKind = "not-found" | "refused" | "bad-request" | "failed";

export type ControlAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly kind: ControlErrorKind;
      readonly message: string;
      readonly hint?: string;
    };

export function isHello(value: unknown): value is ControlHello {
  return typeof value === "object" && value !== null && "krond" in value && value.krond === CONTROL_VERSION;
}
