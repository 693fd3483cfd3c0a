/** Something valid that will disappoint. */
export interface LintWarning {
  readonly kind: "window-excluded" | "often-unschedulable" | "hot-spot" | "no-deadline" | "untrusted" | "untold";
  /** The job, or the first few of the jobs, in question; none where it is a file that is in question. */
  readonly identities: readonly string[];
  readonly message: string;
  readonly hint: string;
}
