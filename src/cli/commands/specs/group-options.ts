/** What commands for several jobs have in common. */
import type { OptionSpec } from "../../args.js";

export const GROUP_OPTIONS: readonly OptionSpec[] = [
  { name: "tag", value: "TAG,...", help: "jobs with one of these tags; with JOB they must match both" },
  { name: "dry-run", help: "only say which jobs that means" },
];
