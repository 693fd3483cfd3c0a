import { TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const DEFAULT_COUNT = 20;

/** What the rows of a history may say. */
export const HISTORY_OUTCOMES = [
  "executed",
  "skipped",
  "missed",
  "unschedulable",
  "not_evaluated",
  "paused",
  "resumed",
  "none",
] as const;

export const HISTORY: CommandSpec = {
  name: "history",
  summary: "show what happened to a job, or to all of them, newest first",
  usage: "[JOB] [OPTIONS]",
  details: `
Shows the periods of JOB that reached an outcome, its manual runs, and what was passed over, newest first. Without JOB, what
happened to all jobs. With -o jsonl each period comes with its decision, which 'kron verify' can recompute.

  kron history prod/db-backup --count 5
  kron history --failed --since yesterday`,
  options: [
    STATE_OPTION,
    { name: "count", short: "n", value: "N", help: `how many (default: ${DEFAULT_COUNT})` },
    { name: "since", value: "WHEN", help: "only periods and runs from then on: 2h, 7d, yesterday, mon 09:00 ..." },
    TZ_OPTION,
    { name: "failed", help: "only what failed, was missed, or found no second" },
    { name: "outcome", value: "WORD,...", words: HISTORY_OUTCOMES, help: "only rows of these outcomes" },
    { name: "follow", short: "f", help: "oldest first, and then what happens from now on" },
  ],
};
