import { type OptionSpec, TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";
import { GROUP_OPTIONS } from "./group-options.js";

function control(name: string, summary: string, details: string, options: readonly OptionSpec[] = []): CommandSpec {
  return { name, summary, usage: "JOB... [OPTIONS]", details, options: [STATE_OPTION, ...GROUP_OPTIONS, ...options] };
}

export const RUN: CommandSpec = control(
  "run",
  "run jobs now, beside their schedules",
  `
Starts JOB at once and leaves its schedule as it is. The run is recorded as a manual one. It is started beside what runs
already, whatever the concurrency of the job says: that rule is about its periods. With --if-idle it is refused then. With
--wait the command ends when the run does, with its exit code: 128 and the number for a signal, 1 for a request that failed,
70 when nobody knows.

JOB may be a pattern, such as 'prod/*', and there may be several.

  kron run prod/db-backup --wait
  kron run 'prod/*' --tag nightly --if-idle --dry-run`,
  [
    { name: "wait", help: "wait for the end of the run, and exit with its code" },
    { name: "if-idle", help: "refuse while something of the job is running" },
  ],
);

export const CANCEL: CommandSpec = control(
  "cancel",
  "end what is running of jobs",
  `
Ends every run of JOB, or with JOB@PERIOD only the run of that period: TERM to all of its processes, KILL to what is left after
kill_grace. Exits 1 when nothing runs. JOB may be a pattern, such as 'prod/*', and there may be several.

  kron cancel prod/db-backup`,
  [TZ_OPTION],
);

export const PAUSE: CommandSpec = control(
  "pause",
  "keep jobs from being started for a while",
  `
Starts nothing of JOB until the pause ends by itself or 'kron resume' ends it. What is running goes on. Periods that pass
meanwhile are not made up for: they are put on record as not evaluated, and the next run is the first after the pause. With
--catch-up the period that is current when the pause ends is started then, if its deadline has not passed. JOB may be a
pattern, such as 'prod/*', and there may be several.

  kron pause prod/db-backup --until 2h --reason "database upgrade"
  kron pause 'prod/*' --until 'fri 18:00' --reason "freeze" --dry-run`,
  [
    { name: "until", value: "WHEN", help: "2h, 7d, tomorrow, 09:00, fri 18:00, 2026-11-19, 2026-11-19T09:00:00Z" },
    TZ_OPTION,
    { name: "reason", value: "TEXT", help: "why; 'kron why' repeats it" },
    { name: "catch-up", help: "when the pause ends, start what is current then" },
  ],
);

export const RESUME: CommandSpec = control(
  "resume",
  "end pauses",
  `
Ends the pause of JOB before its time. JOB may be a pattern, such as 'prod/*', and there may be several.

  kron resume prod/db-backup`,
);
