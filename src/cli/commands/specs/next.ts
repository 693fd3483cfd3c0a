import { AT_OPTION, CONFIG_OPTION, CRONTAB_OPTION, TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";

export const DEFAULT_COUNT = 5;
export const DEFAULT_OVERVIEW_COUNT = 15;

export const NEXT: CommandSpec = {
  name: "next",
  summary: "show when jobs will run",
  usage: "[JOB] [OPTIONS]",
  details: `
Shows the decisions of JOB for the periods whose nominal time lies after --at (default: now). Without JOB, what lies
ahead over all jobs, soonest first. An interval has no periods: it counts from the last run, which is known with --state,
else from --at. With -o jsonl each line is one decision record, which 'kron verify' can recompute.

  kron next prod/db-backup --count 3 --at 2026-03-01T00:00:00Z`,
  options: [
    CONFIG_OPTION,
    CRONTAB_OPTION,
    AT_OPTION,
    TZ_OPTION,
    {
      name: "state",
      short: "s",
      value: "DIR",
      help: "state directory of krond: intervals count from the last run there",
    },
    {
      name: "count",
      short: "n",
      value: "N",
      help: `how many (default: ${DEFAULT_COUNT}, or ${DEFAULT_OVERVIEW_COUNT} over all jobs)`,
    },
  ],
};
