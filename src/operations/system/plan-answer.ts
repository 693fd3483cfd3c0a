import type { PlanReport } from "../../actors/supervisor/port.js";

/** A reload or a plan, with its findings as lines. */
export interface PlanAnswer {
  readonly plan: PlanReport;
  /** Jobs that keep the definition they had, because the new one is invalid or may only be missing (S35). */
  readonly kept: readonly string[];
  readonly problems: readonly string[];
  /** Only where it was asked for. */
  readonly notStartable?: readonly string[];
}
