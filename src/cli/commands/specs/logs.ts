import { TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const LOGS: CommandSpec = {
  name: "logs",
  summary: "show what a run printed",
  usage: "JOB[@PERIOD] [OPTIONS]",
  details: `
Shows the output of the newest run of JOB, or of the run of PERIOD; of a request the status, how long each part took, and
the beginning of the answer. --list names the files that are kept, newest last.
--follow shows it as it is written, and goes on with the next run; with a period it ends when that run does.

  kron logs prod/db-backup --follow`,
  options: [
    STATE_OPTION,
    TZ_OPTION,
    { name: "list", help: "name the files instead of showing one" },
    { name: "follow", short: "f", help: "show what is written from now on, too" },
  ],
};
