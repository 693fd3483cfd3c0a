/** A run as the health of its endpoint counts it: how it ended, and what was wrong. */
import { ABORTED_LATE, type Ending, isSuccess } from "../state/ending.js";
import type { EpochMs } from "../time/instant.js";

/** The words of run records. `unknown`: nobody saw the end (S29). */
export const RUN_RESULTS = ["success", "failure", "timeout", "cancelled", "unknown"] as const;
export type EndedResult = (typeof RUN_RESULTS)[number];

export interface RunError {
  readonly at: EpochMs;
  /** A reason in a word, such as `connection-lost`; of an answer `status-500`. */
  readonly code: string;
  readonly status: number | null;
  /** At most 200 characters, in one line. Somebody else may have written them. */
  readonly message: string;
}

export interface EndedRun {
  readonly endedAt: EpochMs;
  readonly result: EndedResult;
  /** null: nobody knows. */
  readonly durationMs: number | null;
  /** It said itself that there was nothing to do. */
  readonly isIdle?: boolean;
  /** What was wrong, in the words of whoever knows. */
  readonly error?: Omit<RunError, "at">;
}

export const ERROR_CODE_CHARS = 64;
export const ERROR_MESSAGE_CHARS = 200;

/** Answers that say "nothing to do", or "nothing new". */
const IDLE_STATUSES: readonly number[] = [204, 304];
const UNNAMED = "failed";

/** null: nothing began, so that there is nothing to count. */
export function endedRunOf(ending: Ending, endedAt: EpochMs): EndedRun | null {
  if (ending.kind === "not-run" && ending.reason === ABORTED_LATE.reason) return null;
  const durationMs = "durationMs" in ending ? ending.durationMs : null;
  const isIdle = ending.kind === "answered" && IDLE_STATUSES.includes(ending.status);
  const result = endedResultOf(ending);
  const run = { endedAt, result, durationMs, ...(isIdle ? { isIdle } : {}) };
  return isFault(result) ? { ...run, error: errorOf(ending) } : run;
}

/** What speaks against an endpoint: somebody who cancels a run says nothing about it. */
export function isFault(result: EndedResult): boolean {
  return result !== "success" && result !== "cancelled";
}

export function endedResultOf(ending: Ending): EndedResult {
  const { reason } = ending;
  if (reason === "cancelled" || reason === "replaced") return "cancelled";
  if (reason === "timeout") return "timeout";
  if (isSuccess(ending)) return "success";
  const isUnseen = ending.kind === "unseen" || ending.kind === "not-run";
  const hasNoEnd = ending.kind === "exited" && ending.code === null && ending.signal === null;
  return isUnseen || hasNoEnd ? "unknown" : "failure";
}

function errorOf(ending: Ending): Omit<RunError, "at"> {
  switch (ending.kind) {
    case "answered": {
      const code = ending.reason ?? `status-${ending.status}`;
      return { code, status: ending.status, message: ending.detail ?? ending.excerpt ?? "" };
    }
    case "failed":
      return { code: ending.reason, status: ending.status, message: ending.detail };
    case "exited": {
      const code = ending.code === null ? (ending.signal ?? "exit-unknown") : `exit-${ending.code}`;
      return { code: ending.reason ?? code, status: null, message: "" };
    }
    case "job":
      return { code: ending.reason ?? ending.condition, status: null, message: "" };
    default:
      return { code: ending.reason, status: null, message: "" };
  }
}

/** As it is kept: bounded, and without what a terminal would obey. */
export function keptError(at: EpochMs, { code = UNNAMED, status = null, message = "" }: Partial<RunError>): RunError {
  return { at, code: oneLine(code, ERROR_CODE_CHARS), status, message: oneLine(message, ERROR_MESSAGE_CHARS) };
}

/** Control characters, line ends and marks that turn the direction of writing become blanks; half a character is left out. */
export function oneLine(text: string, mostChars: number): string {
  const cut = text.slice(0, mostChars).replace(/[\ud800-\udbff]$/, "");
  return cut.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, " ").replace(/\p{Cs}/gu, "\ufffd");
}
