import { STANDINGS } from "../../../krond/control/list-filter.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const LIST: CommandSpec = {
  name: "list",
  summary: "show all jobs: what runs, what is next, what was last",
  usage: "[OPTIONS]",
  details: `
Shows the jobs of the daemon with their next run, the processes that are running, and the last outcome. When no daemon
runs, it reads what the last one left in the state directory. Of several words in one option any will do; a job must agree
with all options.

  kron list --identity 'prod/*,stage/*' --standing paused,suspended --tag nightly`,
  options: [
    STATE_OPTION,
    { name: "identity", value: "GLOB,...", help: "only these jobs: * is any text, ? any character" },
    { name: "standing", value: "WORD,...", help: `only jobs that are ${STANDINGS.join(", ")}` },
    { name: "tag", value: "TAG,...", help: "only jobs with one of these tags" },
    { name: "count", short: "n", value: "N", help: "how many at most (default: all)" },
  ],
};
