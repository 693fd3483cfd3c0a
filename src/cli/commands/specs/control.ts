import type { OptionSpec } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

function control(name: string, summary: string, details: string, options: readonly OptionSpec[] = []): CommandSpec {
  return { name, summary, usage: "JOB [OPTIONS]", details, options: [STATE_OPTION, ...options] };
}

export const RUN: CommandSpec = control(
  "run",
  "run a job now, beside its schedule",
  `
Starts JOB at once and leaves its schedule as it is. The run is recorded as a manual one. It is started beside what runs
already, whatever the concurrency of the job says: that rule is about its periods.

  kron run prod/db-backup`,
);

export const CANCEL: CommandSpec = control(
  "cancel",
  "end what is running of a job",
  `
Ends every run of JOB, or with JOB@PERIOD only the run of that period: TERM to all of its processes, KILL to what is left after kill_grace.

  kron cancel prod/db-backup`,
);

export const PAUSE: CommandSpec = control(
  "pause",
  "keep a job from being started for a while",
  `
Starts nothing of JOB until the pause ends by itself or 'kron resume' ends it. What is running goes on. Periods that pass
meanwhile are not made up for: they are put on record as not evaluated, and the next run is the first after the pause. With
--catch-up the period that is current when the pause ends is started then, if its deadline has not passed.

  kron pause prod/db-backup --until 2h --reason "database upgrade"`,
  [
    { name: "until", value: "WHEN", help: "an RFC 3339 instant, or a duration such as 2h" },
    { name: "reason", value: "TEXT", help: "why; 'kron why' repeats it" },
    { name: "catch-up", help: "when the pause ends, start what is current then" },
  ],
);

export const RESUME: CommandSpec = control(
  "resume",
  "end a pause",
  `
Ends the pause of JOB before its time.

  kron resume prod/db-backup`,
);
