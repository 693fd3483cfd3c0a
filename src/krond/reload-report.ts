/** What came of a reload, or would come of it. */
import type { PlanReport } from "../actors/supervisor/port.js";
import type { ConfigFinding } from "../persist/config-files.js";

export interface ReloadReport {
  readonly plan: PlanReport;
  readonly findings: readonly ConfigFinding[];
  /** Jobs that keep the definition they had, because the new one is invalid or may only be missing (S35). */
  readonly kept: readonly string[];
  /** What this host could not start, where that was asked for. */
  readonly notStartable?: readonly ConfigFinding[];
}
