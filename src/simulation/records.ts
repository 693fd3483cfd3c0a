/** Ledger records as a simulation reads them: only what is counted. */
import type { Outcome } from "../core/state/document.js";
import { type EpochMs, parseInstant } from "../core/time/instant.js";
import type { LedgerRecord } from "../persist/store.js";

export type RecordedOutcome = Outcome | "before_definition";

export type ReadRecord =
  | { readonly kind: "period"; readonly outcome: RecordedOutcome; readonly reason: string | null }
  | {
      readonly kind: "run";
      /** null for the job's own periods (S40). */
      readonly source: string | null;
      readonly periodId: string;
      readonly attemptId: string | null;
      readonly hasEnded: boolean;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly reason: string | null;
    }
  | { readonly kind: "gap"; readonly firstAt: EpochMs; readonly lastAt: EpochMs }
  | { readonly kind: "other" };

export function readRecord({ kind, text }: LedgerRecord): ReadRecord {
  if (kind !== "period" && kind !== "gap" && !kind.startsWith("run")) return { kind: "other" };
  const content = JSON.parse(text) as Record<string, unknown>;
  if (kind === "gap") return { kind, firstAt: instantOf(content["first"]), lastAt: instantOf(content["last"]) };
  const reason = textOf(content["reason"]);
  if (kind === "period") {
    const outcome = (textOf(content["outcome"]) ?? "before_definition") as RecordedOutcome;
    return { kind, outcome, reason };
  }
  const exitCode = typeof content["exit_code"] === "number" ? content["exit_code"] : null;
  return {
    kind: "run",
    source: textOf(content["source"]),
    periodId: textOf(content["period_id"]) ?? "",
    attemptId: textOf(content["attempt_id"]),
    hasEnded: content["ended_at"] !== null,
    exitCode,
    signal: textOf(content["signal"]),
    reason,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function instantOf(text: unknown): EpochMs {
  const at = parseInstant(String(text));
  if (!at.ok) throw new Error(`invariant broken: ${JSON.stringify(text)} is no instant`);
  return at.value;
}
