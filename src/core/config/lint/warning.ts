import { DAY_MS } from "../../time/instant.js";

/** How far ahead is looked. */
export const LINT_HORIZON_MS = 400 * DAY_MS;

/** Something valid that will disappoint. */
export interface LintWarning {
  readonly kind:
    | "window-excluded"
    | "often-unschedulable"
    | "hot-spot"
    | "no-deadline"
    | "untrusted"
    | "calendar-over"
    | "untold"
    | "once-over"
    | "once-skipped"
    | "once-repeated";
  /** The job, or the first few of the jobs, in question; none where it is a file that is in question. */
  readonly identities: readonly string[];
  readonly message: string;
  readonly hint: string;
}
