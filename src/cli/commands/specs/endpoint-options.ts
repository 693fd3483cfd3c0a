/** Options that commands for endpoints have in common. */
import type { OptionSpec } from "../../args.js";

export const IF_MATCH_OPTION: OptionSpec = {
  name: "if-match",
  value: "VERSION",
  help: "only if nobody has changed it since this version",
};

export const JOB_OPTION: OptionSpec = {
  name: "job",
  value: "JOB",
  help: "the job it is of: ENDPOINT is then its name alone",
};

export const TAG_FILTER: OptionSpec = { name: "tag", value: "TAG,...", help: "endpoints with one of these tags" };

/** Of commands for several endpoints. */
export const SEVERAL_OPTIONS: readonly OptionSpec[] = [
  JOB_OPTION,
  TAG_FILTER,
  { name: "dry-run", help: "only say which endpoints that means" },
];

export const REHEARSAL: OptionSpec = { name: "dry-run", help: "judge everything, and change nothing" };
