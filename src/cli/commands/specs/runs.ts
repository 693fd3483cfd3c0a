import { TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { TENANT_OPTION } from "../../endpoints/tenant-option.js";
import { STATE_OPTION } from "../../state-options.js";
import { JOB_OPTION } from "./endpoint-options.js";

export const DEFAULT_RUNS = 20;
export const RUN_STATUSES = ["running", "success", "failure", "timeout", "cancelled", "unknown"] as const;

export const RUNS: CommandSpec = {
  name: "runs",
  summary: "show the runs of endpoints, newest first, or one run in full",
  usage: "[ENDPOINT | RUN] [OPTIONS]",
  details: `
Without ENDPOINT it shows what has ended of all endpoints of the tenant, those that are deleted included. ENDPOINT is JOB/NAME, an
id, or with --job a name. RUN is the id of a run, which 'kron endpoint run' and -o json tell: then everything is shown that is on
record of it, with the beginning of the answer and what was in force when it began. The daemon must be running.

  kron runs billing/sync --failed --since 7d
  kron runs --status timeout,unknown -o jsonl
  kron runs billing/sync --follow`,
  options: [
    STATE_OPTION,
    TENANT_OPTION,
    JOB_OPTION,
    { name: "count", short: "n", value: "N", help: `how many (default: ${DEFAULT_RUNS})` },
    { name: "since", value: "WHEN", help: "only runs from then on: 2h, 7d, yesterday, mon 09:00 ..." },
    { name: "failed", help: "only runs that did not succeed: failure, timeout, unknown" },
    { name: "status", value: "WORD,...", words: RUN_STATUSES, help: "only runs of these statuses" },
    { name: "follow", short: "f", help: "oldest first, and then what comes from now on" },
    { name: "local", help: "times in your zone, or that of --tz, instead of UTC" },
    TZ_OPTION,
  ],
};
