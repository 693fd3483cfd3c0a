/**
 * How a run ended, whatever it was a run of, and the form in which that is published: the ledger, the log and what reads
 * them. There is one answer to whether a run succeeded, and it is given here.
 */

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
  /** From GO to the last byte. */
  readonly durationMs: number;
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
      /** Whether the job counts this status as success. */
      readonly isExpected: boolean;
      readonly reason: string | null;
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

/** S23: the end of a run that cannot be shown to have begun. */
export const START_UNCONFIRMED: Ending = { kind: "not-run", reason: "start_unconfirmed" };
/** S20: it was told to go too late and did not begin. */
export const ABORTED_LATE: Ending = { kind: "not-run", reason: "aborted_late" };
/** S29: the run ended while nobody was watching. */
export const EXIT_UNSEEN: Ending = { kind: "unseen", reason: "exit_unseen" };

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
      return `HTTP ${ending.status}`;
    case "failed":
      return "no answer";
    case "job":
      return ending.condition;
    default:
      return UNKNOWN;
  }
}

/** `reason` is why we ended it: that stands before what the run itself said. */
export function endedFor(ending: Ending, reason: string | null): Ending {
  return reason === null ? ending : { ...ending, reason };
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
  readonly detail?: string;
  readonly duration_ms?: number;
  readonly bytes?: number;
  readonly timings?: TimingFields;
  readonly excerpt?: string;
  readonly condition?: string;
}

export interface TimingFields {
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
    case "answered":
      return { ...noExit(reason), ...exchangeFields(ending, ending.status), success: ending.isExpected };
    case "failed": {
      const { status, isSent, detail } = ending;
      return { ...noExit(reason), ...exchangeFields(ending, status), sent: isSent, detail };
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

function exchangeFields({ durationMs, bytes, timings, excerpt }: Exchange, status: number | null) {
  return {
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
    ...(excerpt === null ? {} : { excerpt }),
  } as const;
}

type Fields = Readonly<Record<string, unknown>>;

/** What was published, read back. Of a form that is not known nothing is assumed. */
export function readEnding(fields: Fields): Ending {
  const [code, signal] = [numberOf(fields["exit_code"]), textOf(fields["signal"])];
  const reason = textOf(fields["reason"]);
  const { success, sent } = fields;
  const condition = textOf(fields["condition"]);
  const status = numberOf(fields["status"]);
  if (typeof success === "boolean" && status !== null) {
    return { kind: "answered", status, isExpected: success, reason, ...exchangeOf(fields) };
  }
  if (typeof sent === "boolean") {
    const detail = textOf(fields["detail"]) ?? "";
    return { kind: "failed", status, isSent: sent, detail, reason: reason ?? "failed", ...exchangeOf(fields) };
  }
  if (condition !== null) return { kind: "job", condition, reason };
  if (code === null && signal === null) {
    if (reason === START_UNCONFIRMED.reason) return START_UNCONFIRMED;
    if (reason === ABORTED_LATE.reason) return ABORTED_LATE;
    if (reason === EXIT_UNSEEN.reason) return EXIT_UNSEEN;
  }
  return { kind: "exited", code, signal, reason };
}

function exchangeOf(fields: Fields): Exchange {
  return {
    durationMs: numberOf(fields["duration_ms"]) ?? 0,
    bytes: numberOf(fields["bytes"]) ?? 0,
    timings: timingsOf(fields["timings"]),
    excerpt: textOf(fields["excerpt"]),
  };
}

function timingsOf(value: unknown): Timings {
  const fields = typeof value === "object" && value !== null ? (value as Fields) : {};
  return {
    dnsMs: numberOf(fields["dns_ms"]),
    connectMs: numberOf(fields["connect_ms"]),
    tlsMs: numberOf(fields["tls_ms"]),
    firstByteMs: numberOf(fields["first_byte_ms"]),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
