/** What happened, for everybody who wants to know: Events of the object, lines of the log, metrics. Told after the fact. */
import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Write } from "./memory.js";

export type RunResult = "Succeeded" | "Failed" | "Unknown" | "NotStarted";

export type News =
  | {
      readonly kind: "outcome";
      readonly periodId: string;
      readonly outcome: "executed" | "skipped" | "missed" | "unschedulable";
      readonly reason: string | null;
      readonly chosenAt: EpochMs | null;
      readonly deadlineMs: number;
      readonly seedHash: string;
      readonly job: string | null;
    }
  | { readonly kind: "slot_claimed"; readonly source: string; readonly periodId: string; readonly job: string }
  | { readonly kind: "started"; readonly job: string; readonly periodId: string; readonly chosenAt: EpochMs }
  | {
      readonly kind: "ended";
      readonly job: string;
      readonly periodId: string;
      readonly result: RunResult;
      readonly reason: string | null;
    }
  | {
      readonly kind: "not_evaluated";
      readonly count: number;
      readonly isCountExact: boolean;
      readonly firstId: string;
      readonly lastId: string;
      /** S13, S17; null: nobody was there. */
      readonly reason: string | null;
    }
  | { readonly kind: "invalid"; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: "template_refused"; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: "gate_bypassed"; readonly job: string | null }
  | {
      readonly kind: "not_created";
      readonly job: string;
      readonly periodId: string;
      readonly code: ErrorCode;
      readonly message: string;
    }
  | {
      readonly kind: "denied";
      readonly write: Write;
      readonly job: string;
      readonly code: ErrorCode;
      readonly message: string;
    }
  | { readonly kind: "replaced"; readonly job: string; readonly byPeriodId: string }
  | { readonly kind: "replace_failed"; readonly job: string; readonly periodId: string }
  | { readonly kind: "deleted"; readonly job: string; readonly reason: string }
  | { readonly kind: "run_refused"; readonly value: string; readonly why: string }
  | { readonly kind: "suspended" | "resumed" }
  /** S17. */
  | { readonly kind: "paused"; readonly untilAt: EpochMs; readonly reason: string }
  | { readonly kind: "pause_over" }
  | { readonly kind: "unexpected_job"; readonly job: string; readonly periodId: string }
  | { readonly kind: "undecided"; readonly periodId: string; readonly message: string }
  /** `definedAt`: of what counts as now (S14). */
  | { readonly kind: "state_ahead"; readonly periodId: string; readonly definedAt: string | null };
