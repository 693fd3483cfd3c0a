import { STANDINGS } from "../../../actors/supervisor/rows/job-query.js";
import { OUTCOMES } from "../../../core/state/document.js";
import { SORTS } from "../../../operations/jobs/order.js";
import { TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const LIST: CommandSpec = {
  name: "list",
  summary: "show all jobs: what runs, what is next, what was last",
  usage: "[JOB...] [OPTIONS]",
  details: `
Shows the jobs of the daemon with their next run and where it comes from, the processes that are running, how the last run
ended, and what became of the last period. When no daemon runs, it reads what the last one left in the state directory. Of
several words in one option any will do; a job must agree with all options. On a terminal the table fits its width: what
matters least is shortened first. JOB is a name, or a pattern as --identity takes it.

  kron list 'prod/*'
  kron list --failed --sort failures
  kron list --outcome missed,skipped --sort lateness
  kron list --identity 'prod/*,stage/*' --standing paused,suspended --tag nightly
  kron list --due 1h --local`,
  options: [
    STATE_OPTION,
    { name: "identity", value: "GLOB,...", help: "only these jobs: * is any text, ? any character" },
    {
      name: "standing",
      value: "WORD,...",
      words: STANDINGS,
      help: `only jobs that are ${STANDINGS.join(", ")} (gone from the configuration, and still running)`,
    },
    { name: "tag", value: "TAG,...", help: "only jobs with one of these tags" },
    { name: "failed", help: "only jobs whose last run failed, or whose last period was missed or found no second" },
    {
      name: "outcome",
      value: "WORD,...",
      words: OUTCOMES,
      help: `only jobs whose last period came to ${OUTCOMES.join(", ")}`,
    },
    { name: "running", help: "only jobs of which something runs" },
    { name: "due", value: "WITHIN", bare: "0s", help: "only jobs that are due now, or within this time, such as 1h" },
    { name: "search", value: "TEXT", help: "only jobs with this text in their name" },
    {
      name: "sort",
      value: SORTS.join("|"),
      help: "order of the jobs (default: name); duration and lateness are those of the last run, the longest first",
    },
    { name: "reverse", help: "the other way round; jobs of which nothing is known stay last" },
    { name: "count", short: "n", value: "N", help: "how many at most (default: all)" },
    { name: "offset", value: "N", help: "how many to leave out first" },
    { name: "local", help: "times in your zone, or that of --tz, instead of UTC" },
    TZ_OPTION,
  ],
};
