import type { CommandSpec } from "../../command.js";
import { TENANT_OPTION } from "../../endpoints/tenant-option.js";
import { STATE_OPTION } from "../../state-options.js";

/** Of the health of an endpoint. */
export const STATS_WINDOWS = ["1h", "4h", "24h", "30d"] as const;
export const DEFAULT_WINDOW = "24h";

export const STATS: CommandSpec = {
  name: "stats",
  summary: "show how endpoints have been doing",
  usage: "[ENDPOINT] [OPTIONS]",
  details: `
Of ENDPOINT, which is JOB/NAME or an id, the last hour, four hours, day and month: how many runs there were, how many of them
succeeded, how long half of them and 95 of 100 took, the present streak, and the last errors. Without it, a line for each
endpoint of the tenant, or with --job of that job, over one --window. The daemon must be running.

  kron stats billing/sync
  kron stats --job billing --window 1h`,
  options: [
    STATE_OPTION,
    TENANT_OPTION,
    { name: "job", value: "JOB", help: "the endpoints of this job; with ENDPOINT, the job it is of" },
    {
      name: "window",
      value: STATS_WINDOWS.join("|"),
      words: STATS_WINDOWS,
      help: `of a line for each endpoint (default: ${DEFAULT_WINDOW})`,
    },
    { name: "failed", help: "only endpoints whose last run failed" },
    { name: "count", short: "n", value: "N", help: "how many endpoints at most (default: all)" },
  ],
};
