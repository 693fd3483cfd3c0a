import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const DEFAULT_COUNT = 20;

export const HISTORY: CommandSpec = {
  name: "history",
  summary: "show what happened to a job, newest first",
  usage: "JOB [OPTIONS]",
  details: `
Shows the periods of JOB that reached an outcome, its manual runs, and what was passed over, newest first.

  kron history prod/db-backup --count 5`,
  options: [
    STATE_OPTION,
    { name: "count", short: "n", value: "N", help: `how many (default: ${DEFAULT_COUNT})` },
    { name: "follow", short: "f", help: "oldest first, and then what happens from now on" },
  ],
};
