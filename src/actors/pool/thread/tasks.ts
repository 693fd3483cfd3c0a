/** The messages between the pool and its workers. */
import type { ErrorCode } from "../../../core/base/errors/registry.js";
import type { Horizon } from "../../../core/forecast/horizon.js";
import type { PlanRules } from "../../../core/restart/resting.js";
import type { KeyRange } from "../../../persist/key-range.js";
import type { StoreSource } from "../../../persist/store.js";
import type { JobColumns } from "../load/job-columns.js";
import type { Piece, PieceTask } from "../load/piece.js";
import type { PlannedPage, StoreForecast } from "../types.js";
import type { StopFlag } from "./stop-flag.js";

export interface PlanTask {
  readonly source: StoreSource;
  readonly range: KeyRange;
  readonly rules: PlanRules;
}

interface ForecastTask {
  readonly source: StoreSource;
  readonly horizon: Horizon;
}

/** What a worker can be asked, by the name of its function. */
export interface Tasks {
  readonly planRange: { readonly task: PlanTask; readonly answer: PlannedPage };
  readonly forecast: { readonly task: ForecastTask; readonly answer: StoreForecast };
  readonly readPiece: { readonly task: PieceTask; readonly answer: Piece<JobColumns> };
}
export type TaskName = keyof Tasks;

/** What crosses to a worker. */
export interface Batch<T> {
  readonly task: T;
  readonly stop: StopFlag;
}

/** Errors do not cross threads with their codes: a worker answers with what happened. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };
