/**
 * How a run ended, whatever it was a run of, and the form in which that is published: the ledger, the log and what reads
 * them. There is one answer to whether a run succeeded, and it is given here.
 */
import { type Fields, fieldsOf, numberOf, textOf } from "../base/fields.js";

/** Who holds a run that was claimed: a process of this host, or something that this daemon alone keeps. */
export const HOLDER_KINDS = ["process", "request", "job"] as const;
export type HolderKind = (typeof HOLDER_KINDS)[number];

/** S27: a process is known by its birth and boot as well; null where a document of another implementation lacks them. */
export interface ProcessHolder {
  readonly kind: "process";
  readonly pid: number;
  readonly startTicks: number | null;
  readonly bootId: string | null;
  /** Where it runs; absent where there is one node alone. */
  readonly node?: string;
}

/** A request, or a job of a cluster: no process of its own, so that the daemon's number stands for it. */
export interface RemoteHolder {
  readonly kind: Exclude<HolderKind, "process">;
  readonly pid: number;
  readonly node?: string;
}

export type Holder = ProcessHolder | RemoteHolder;

/** Of a request, in milliseconds; null: it did not come to that, or a connection was there already. */
export interface Timings {
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the first byte that was sent to the first of the answer. */
  readonly firstByteMs: number | null;
}

interface Exchange {
  /** From when it was sent, or was about to be, to the last byte. */
  readonly durationMs: number;
  /** From GO until there was room for it; absent where it did not wait. */
  readonly waitedMs?: number;
  /** Of the body, as far as it was read. */
  readonly bytes: number;
  readonly timings: Timings;
  /** The beginning of the body; null: none is kept. */
  readonly excerpt: string | null;
}

/** In each, `reason` says why a run ended that did not end by itself, or why its end is unknown. */
export type Ending =
  | {
      readonly kind: "exited";
      /** null: a signal ended it. */
      readonly code: number | null;
      readonly signal: string | null;
      readonly reason: string | null;
    }
  | (Exchange & {
      readonly kind: "answered";
      readonly status: number;
      /** Whether the job counts this answer as success: its status, and its body where that is asked. */
      readonly isExpected: boolean;
      readonly reason: string | null;
      /** What was wrong with its body; absent: nothing. */
      readonly detail?: string;
      /** Of one that is no success: for so long whoever answered wants no other request. Absent: it does not say. */
      readonly retryAfterMs?: number;
    })
  /** The condition that a job of a cluster ended with. */
  | { readonly kind: "job"; readonly condition: string; readonly reason: string | null }
  /** No whole answer; `reason` is its code. */
  | (Exchange & {
      readonly kind: "failed";
      /** Of an answer that was broken off. */
      readonly status: number | null;
      /** false: not one byte of the request was sent. */
      readonly isSent: boolean;
      readonly detail: string;
      readonly reason: string;
    })
  /** S29: nobody saw it. Success is never assumed. */
  | { readonly kind: "unseen"; readonly reason: string }
  /** The claim stands, and nothing began. */
  | { readonly kind: "not-run"; readonly reason: string };

/** The reason of an answer whose status counts as success, and whose body does not. */
export const BODY_UNEXPECTED = "body-unexpected";

/** S23: the end of a run that cannot be shown to have begun. */
export const START_UNCONFIRMED: Ending = { kind: "not-run", reason: "start_unconfirmed" };
/** S20: it was told to go too late and did not begin. */
export const ABORTED_LATE: Ending = { kind: "not-run", reason: "aborted_late" };
/** S29: the run ended while nobody was watching. */
export const EXIT_UNSEEN: Ending = { kind: "unseen", reason: "exit_unseen" };
/** C15: its node is gone, and nothing is waited for any more. */
export const NODE_LOST: Ending = { kind: "unseen", reason: "node_lost" };
/** By what is on record of them: there is no exit code and no answer beside it. */
const WITHOUT_RESULT: readonly Ending[] = [START_UNCONFIRMED, ABORTED_LATE, EXIT_UNSEEN, NODE_LOST];

const UNKNOWN = "unknown";
const JOB_SUCCEEDED = "Complete";

export function isSuccess(ending: Ending): boolean {
  switch (ending.kind) {
    case "exited":
      return ending.code === 0;
    case "answered":
      return ending.isExpected;
    case "job":
      return ending.condition === JOB_SUCCEEDED;
    default:
      return false;
  }
}

/** The same in a word, for what counts runs. */
export type RunResult = "success" | "failure" | "signal" | "unknown";

export function resultOf(ending: Ending): RunResult {
  if (isSuccess(ending)) return "success";
  switch (ending.kind) {
    case "exited":
      return ending.code !== null ? "failure" : ending.signal !== null ? "signal" : "unknown";
    case "answered":
    case "failed":
    case "job":
      return "failure";
    default:
      return "unknown";
  }
}

/** What says whether somebody should look at a job. */
export interface Signs {
  /** Of its newest run. */
  readonly result: RunResult | null;
  /** Of its last period. */
  readonly outcome: string | null;
  /** S46: something keeps what is due from being started. */
  readonly hasStartFailure: boolean;
}

export function isFailing({ result, outcome, hasStartFailure }: Signs): boolean {
  const hasFailed = result !== null && result !== "success";
  return hasFailed || hasStartFailure || outcome === "missed" || outcome === "unschedulable";
}

/** Without what somebody else has written: for logs and inspectors, which have more readers than a run's own output. */
export function withoutExcerpt(ending: Ending): Ending {
  return "excerpt" in ending ? { ...ending, excerpt: null } : ending;
}

/** As it is shown in a column: an exit code, a signal, a status. */
export function endingText(ending: Ending): string {
  switch (ending.kind) {
    case "exited":
      return ending.signal ?? (ending.code === null ? UNKNOWN : String(ending.code));
    case "answered":
      return ending.reason === BODY_UNEXPECTED ? `HTTP ${ending.status}, body` : `HTTP ${ending.status}`;
    case "failed":
      return "no answer";
    case "job":
      return ending.condition;
    default:
      return UNKNOWN;
  }
}

/** Whether nobody saw the end of a run that has this reason. */
export function isUnseenReason(reason: string | null): boolean {
  return reason === EXIT_UNSEEN.reason || reason === NODE_LOST.reason;
}

/**
 * `reason` is why we ended it: that stands before what the run itself said. But a run that is lost was not ended by its
 * timeout: nobody could see to that. What somebody wanted to end stays what it was wanted to be: it is not tried again (S43).
 */
export function endedFor(ending: Ending, reason: string | null): Ending {
  const isLostInTime = ending.reason === NODE_LOST.reason && reason === "timeout";
  return reason === null || isLostInTime ? ending : { ...ending, reason };
}

/** Of a run that goes on. */
export const NO_ENDING_FIELDS: EndingFields = Object.freeze({ exit_code: null, signal: null, reason: null });

/** As it is published: the fields of a process always, those of a request only where it was one. */
export interface EndingFields {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly reason: string | null;
  readonly holder?: HolderKind;
  readonly status?: number | null;
  /** Of an answer. */
  readonly success?: boolean;
  /** Of a request without a whole answer. */
  readonly sent?: boolean;
  /** Of the same, or of a body that is not what was asked for. */
  readonly detail?: string;
  /** Of an answer that is no success and says it. */
  readonly retry_after_ms?: number;
  readonly duration_ms?: number;
  /** Before that, for room. */
  readonly waited_ms?: number;
  readonly bytes?: number;
  readonly timings?: TimingFields;
  readonly excerpt?: string;
  readonly condition?: string;
}

interface TimingFields {
  readonly dns_ms: number | null;
  readonly connect_ms: number | null;
  readonly tls_ms: number | null;
  readonly first_byte_ms: number | null;
}

export function endingFields(ending: Ending): EndingFields {
  const { reason } = ending;
  switch (ending.kind) {
    case "exited":
      return { exit_code: ending.code, signal: ending.signal, reason };
    case "answered": {
      const { status, isExpected, detail, retryAfterMs } = ending;
      const fields = exchangeFields(ending, status, reason);
      fields.success = isExpected;
      if (detail !== undefined) fields.detail = detail;
      if (retryAfterMs !== undefined) fields.retry_after_ms = retryAfterMs;
      return fields;
    }
    case "failed": {
      const { status, isSent, detail } = ending;
      const fields = exchangeFields(ending, status, reason);
      fields.sent = isSent;
      fields.detail = detail;
      return fields;
    }
    case "job":
      return { ...noExit(reason), holder: "job", condition: ending.condition };
    default:
      return noExit(reason);
  }
}

/** Absent for a process, as it always was. */
export function holderField(holder: HolderKind): { readonly holder?: HolderKind } {
  return holder === "process" ? {} : { holder };
}

function noExit(reason: string | null): EndingFields {
  return { exit_code: null, signal: null, reason };
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Field by field: this is done for each request, and to spread what may be there costs ten times as much. */
function exchangeFields(exchange: Exchange, status: number | null, reason: string | null): Writable<EndingFields> {
  const { durationMs, waitedMs, bytes, timings, excerpt } = exchange;
  const fields: Writable<EndingFields> = {
    exit_code: null,
    signal: null,
    reason,
    holder: "request",
    status,
    duration_ms: durationMs,
    bytes,
    timings: {
      dns_ms: timings.dnsMs,
      connect_ms: timings.connectMs,
      tls_ms: timings.tlsMs,
      first_byte_ms: timings.firstByteMs,
    },
  };
  if (waitedMs !== undefined) fields.waited_ms = waitedMs;
  if (excerpt !== null) fields.excerpt = excerpt;
  return fields;
}

/** What was published, read back. Of a form that is not known nothing is assumed. */
export function readEnding(fields: Fields): Ending {
  const [code, signal] = [numberOf(fields["exit_code"]), textOf(fields["signal"])];
  const reason = textOf(fields["reason"]);
  const { success, sent } = fields;
  const condition = textOf(fields["condition"]);
  const status = numberOf(fields["status"]);
  if (typeof success === "boolean" && status !== null) {
    const detail = textOf(fields["detail"]);
    const why = detail === null ? {} : { detail };
    const retryAfterMs = numberOf(fields["retry_after_ms"]);
    const wish = retryAfterMs === null ? {} : { retryAfterMs };
    return { kind: "answered", status, isExpected: success, reason, ...why, ...wish, ...exchangeOf(fields) };
  }
  if (typeof sent === "boolean") {
    const detail = textOf(fields["detail"]) ?? "";
    return { kind: "failed", status, isSent: sent, detail, reason: reason ?? "failed", ...exchangeOf(fields) };
  }
  if (condition !== null) return { kind: "job", condition, reason };
  if (code === null && signal === null) {
    const known = WITHOUT_RESULT.find((ending) => ending.reason === reason);
    if (known !== undefined) return known;
  }
  return { kind: "exited", code, signal, reason };
}

function exchangeOf(fields: Fields): Exchange {
  const waitedMs = numberOf(fields["waited_ms"]);
  return {
    ...(waitedMs === null ? {} : { waitedMs }),
    durationMs: numberOf(fields["duration_ms"]) ?? 0,
    bytes: numberOf(fields["bytes"]) ?? 0,
    timings: timingsOf(fields["timings"]),
    excerpt: textOf(fields["excerpt"]),
  };
}

function timingsOf(value: unknown): Timings {
  const fields = fieldsOf(value);
  return {
    dnsMs: numberOf(fields["dns_ms"]),
    connectMs: numberOf(fields["connect_ms"]),
    tlsMs: numberOf(fields["tls_ms"]),
    firstByteMs: numberOf(fields["first_byte_ms"]),
  };
}
