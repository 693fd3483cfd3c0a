/** What went wrong with a run by its own doing, as an error of the error model. */
import { KronError } from "../../../core/base/errors/kron-error.js";
import { type ErrorCode, isErrorCode } from "../../../core/base/errors/registry.js";
import { BODY_UNEXPECTED, type Ending } from "../../../core/state/ending.js";
import type { LedgerFact } from "../../../core/state/facts.js";

type RunEnded = Extract<LedgerFact, { kind: "run_ended" }>;

/** null: nothing did. */
export function runFailure({ identity, run, ending }: RunEnded): KronError | null {
  const failure = failureOf(ending);
  if (failure === null) return null;
  const about = { component: "executor", operation: "run", identity, periodId: run.periodId } as const;
  return new KronError(failure.code, failure.message, about);
}

function failureOf(ending: Ending): { readonly code: ErrorCode; readonly message: string } | null {
  if (ending.kind === "answered" && ending.reason === BODY_UNEXPECTED) {
    return { code: BODY_UNEXPECTED, message: ending.detail ?? "" };
  }
  if (ending.kind === "answered" && !ending.isExpected) {
    return { code: "status-unexpected", message: `the answer has the status ${ending.status}` };
  }
  if (ending.kind === "failed") {
    const { reason, detail } = ending;
    return isErrorCode(reason) ? { code: reason, message: detail } : null;
  }
  if (ending.kind !== "exited" || ending.code === 0 || ending.code === null) return null;
  const isUnbegun = ending.reason === "exec-failed";
  const what = isUnbegun ? "the command could not be executed:" : "the command ended with";
  return { code: isUnbegun ? "exec-failed" : "exit-nonzero", message: `${what} exit code ${ending.code}` };
}
