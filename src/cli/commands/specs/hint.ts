import { type OptionSpec, TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";
import { GROUP_OPTIONS } from "./group-options.js";

/** Also of 'kron endpoint hint'. */
export const HINT_OPTIONS: readonly OptionSpec[] = [
  { name: "every", value: "DURATION", help: "the interval from the start of one run to the next; needs --ttl" },
  { name: "at", value: "WHEN", help: "one run: 2h, 09:00, tomorrow 06:00, 2026-11-19T09:00:00Z" },
  TZ_OPTION,
  {
    name: "ttl",
    value: "DURATION",
    help: "how long the hint holds (with --at by default an hour beyond the instant)",
  },
  { name: "reason", value: "TEXT", help: "why; 'kron why' repeats it" },
  { name: "clear", value: "interval|oneshot", bare: "all", help: "end the hints in force, or the one of that kind" },
];

export const HINT: CommandSpec = {
  name: "hint",
  summary: "let a job run otherwise for a while",
  usage: "JOB... [OPTIONS]",
  details: `
Until it ends, a hint stands in for the schedule of JOB: with --every the job runs at that interval, with --at once at that
instant. The bounds min_interval and max_interval of the job hold all the same, and so do suspension and pauses. When the
hint is over, cleared, or used up by its run, the schedule holds again. A new hint takes the place of one of its kind; an
instant goes before an interval. Without options it shows the hints in force. JOB may be a pattern, such as 'prod/*', and
there may be several. Endpoints, by name: 'kron endpoint hint'.

  kron hint prod/poll --every 30s --ttl 2h --reason "errors upstream"
  kron hint prod/report --at 2026-03-01T14:30:00Z
  kron hint prod/poll --clear`,
  options: [STATE_OPTION, ...GROUP_OPTIONS, ...HINT_OPTIONS],
};
