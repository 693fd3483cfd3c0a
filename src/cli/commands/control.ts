import type { RunNowResult } from "../../actors/supervisor/port.js";
import { holderField } from "../../core/state/ending.js";
import { parseDuration } from "../../core/time/duration.js";
import { formatSecond, parseInstant } from "../../core/time/instant.js";
import type { OptionSpec, ParsedArgs } from "../args.js";
import type { Command } from "../command.js";
import { askDaemon } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { parseJobPeriod } from "../job-period.js";
import { printValue } from "../output.js";
import { STATE_OPTION } from "../state-options.js";

function jobArg(args: ParsedArgs, verb: string): string {
  const [identity, ...more] = args.positionals;
  if (identity === undefined || more.length > 0) throw usageError(`${verb} takes one job`, `kron ${verb} JOB`);
  return identity;
}

async function runNow(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = jobArg(args, "run");
  const value = (await askDaemon(args, io, { op: "run", identity })) as Extract<RunNowResult, { ok: true }>;
  const { slot, attemptId: attempt_id, pid, holder } = value;
  const what = holder === "process" ? `started ${identity}, PID ${pid}` : `sent the request of ${identity}`;
  const told = { identity, slot, attempt_id, pid, ...holderField(holder) };
  await printValue(told, () => `${what}, slot ${slot}\n`, args, io);
  return EXIT.ok;
}

async function cancel(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const { identity, periodAt } = parseJobPeriod(jobArg(args, "cancel"));
  const value = (await askDaemon(args, io, { op: "cancel", identity, periodAt })) as { readonly ended: number };
  const runs = value.ended === 1 ? "1 run" : `${value.ended} runs`;
  await printValue({ identity, ended: value.ended }, () => `asked ${runs} of ${identity} to end\n`, args, io);
  return EXIT.ok;
}

/** An instant, or a duration from now. */
function untilArg(args: ParsedArgs, io: CliIo): number {
  const written = args.text("until");
  if (written === undefined) throw usageError("a pause needs an end", "--until 2h, or --until 2026-03-01T00:00:00Z");
  const instant = parseInstant(written);
  if (instant.ok) return instant.value;
  const duration = parseDuration(written);
  if (duration.ok && duration.value > 0) return io.now() + duration.value;
  throw usageError(`--until: "${written}" is neither an instant nor a duration`, "write 2h or 2026-03-01T00:00:00Z");
}

async function pause(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = jobArg(args, "pause");
  const untilAt = untilArg(args, io);
  const reason = args.text("reason");
  if (reason === undefined || reason === "") throw usageError("a pause needs a reason", '--reason "database upgrade"');
  await askDaemon(args, io, { op: "pause", identity, untilAt, reason });
  const until = formatSecond(untilAt);
  await printValue({ identity, until, reason }, () => `${identity} is paused until ${until}\n`, args, io);
  return EXIT.ok;
}

async function resume(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = jobArg(args, "resume");
  await askDaemon(args, io, { op: "resume", identity });
  await printValue({ identity }, () => `${identity} goes on\n`, args, io);
  return EXIT.ok;
}

function control(
  name: string,
  summary: string,
  details: string,
  run: Command["run"],
  options: readonly OptionSpec[] = [],
): Command {
  return { name, summary, usage: "JOB [OPTIONS]", details, options: [STATE_OPTION, ...options], run };
}

export const RUN: Command = control(
  "run",
  "run a job now, beside its schedule",
  `
Starts JOB at once and leaves its schedule as it is. The run is recorded as a manual one.

  kron run prod/db-backup`,
  runNow,
);

export const CANCEL: Command = control(
  "cancel",
  "end what is running of a job",
  `
Ends every run of JOB, or with JOB@PERIOD only the run of that period: TERM to all of its processes, KILL to what is left after kill_grace.

  kron cancel prod/db-backup`,
  cancel,
);

export const PAUSE: Command = control(
  "pause",
  "keep a job from being started for a while",
  `
Starts nothing of JOB until the pause ends by itself or 'kron resume' ends it. What is running goes on. Periods that pass
meanwhile are not made up for.

  kron pause prod/db-backup --until 2h --reason "database upgrade"`,
  pause,
  [
    { name: "until", value: "WHEN", help: "an RFC 3339 instant, or a duration such as 2h" },
    { name: "reason", value: "TEXT", help: "why; 'kron why' repeats it" },
  ],
);

export const RESUME: Command = control(
  "resume",
  "end a pause",
  `
Ends the pause of JOB before its time.

  kron resume prod/db-backup`,
  resume,
);
