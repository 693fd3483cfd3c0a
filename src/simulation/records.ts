/** Ledger records as a simulation reads them: only what is counted. */
import { fieldsIn } from "../core/base/fields.js";
import type { Outcome } from "../core/state/document.js";
import { type Ending, readEnding } from "../core/state/ending.js";
import { type EpochMs, knownInstant } from "../core/time/instant.js";
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
      /** Of a further attempt: the period that it is one of. */
      readonly retryOf: string | null;
      /** null: it goes on. */
      readonly ending: Ending | null;
      readonly endedAt: EpochMs | null;
    }
  | { readonly kind: "gap"; readonly firstAt: EpochMs; readonly lastAt: EpochMs }
  /** S24, S46: what is due cannot be started. */
  | { readonly kind: "start_failed"; readonly source: string; readonly reason: string }
  /** S16: what stood in the way under another definition is forgotten. */
  | { readonly kind: "defined" }
  /** S51: it has paused itself. */
  | { readonly kind: "stopped" }
  | { readonly kind: "other" };

export function readRecord({ kind, text }: LedgerRecord): ReadRecord {
  if (kind === "paused" && textOf(fieldsIn(text)?.["stopped_for"]) !== null) return { kind: "stopped" };
  if (kind === "defined") return { kind };
  if (kind.startsWith("start_failed:")) return startFailed(text);
  if (kind !== "period" && kind !== "gap" && !kind.startsWith("run")) return { kind: "other" };
  const content = JSON.parse(text) as Record<string, unknown>;
  if (kind === "gap") return { kind, firstAt: instantOf(content["first"]), lastAt: instantOf(content["last"]) };
  if (kind === "period") {
    const outcome = (textOf(content["outcome"]) ?? "before_definition") as RecordedOutcome;
    return { kind, outcome, reason: textOf(content["reason"]) };
  }
  return {
    kind: "run",
    source: textOf(content["source"]),
    periodId: textOf(content["period_id"]) ?? "",
    attemptId: textOf(content["attempt_id"]),
    retryOf: textOf(content["retry_of"]),
    ending: content["ended_at"] === null ? null : readEnding(content),
    endedAt: content["ended_at"] === null ? null : instantOf(content["ended_at"]),
  };
}

function startFailed(text: string): ReadRecord {
  const fields = fieldsIn(text);
  const [source, reason] = [textOf(fields?.["source"]), textOf(fields?.["reason"])];
  return source === null || reason === null ? { kind: "other" } : { kind: "start_failed", source, reason };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function instantOf(text: unknown): EpochMs {
  return knownInstant(String(text));
}
