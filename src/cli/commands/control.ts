import type { RunNowResult } from "../../actors/supervisor/port.js";
import { parseDuration } from "../../core/time/duration.js";
import { formatSecond, parseInstant } from "../../core/time/instant.js";
import type { ParsedArgs } from "../args.js";
import { askDaemon } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { parseJobPeriod } from "../job-period.js";
import { printValue } from "../output.js";

function jobArg(args: ParsedArgs, verb: string): string {
  const [identity, ...more] = args.positionals;
  if (identity === undefined || more.length > 0) throw usageError(`${verb} takes one job`, `kron ${verb} JOB`);
  return identity;
}

export async function runNow(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = jobArg(args, "run");
  const value = (await askDaemon(args, io, { op: "run", identity })) as Extract<RunNowResult, { ok: true }>;
  const text = () => `started ${identity}, PID ${value.pid}, slot ${value.slot}\n`;
  await printValue({ identity, slot: value.slot, attempt_id: value.attemptId, pid: value.pid }, text, args, io);
  return EXIT.ok;
}

export async function cancel(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
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

export async function pause(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = jobArg(args, "pause");
  const untilAt = untilArg(args, io);
  const reason = args.text("reason");
  if (reason === undefined || reason === "") throw usageError("a pause needs a reason", '--reason "database upgrade"');
  await askDaemon(args, io, { op: "pause", identity, untilAt, reason });
  const until = formatSecond(untilAt);
  await printValue({ identity, until, reason }, () => `${identity} is paused until ${until}\n`, args, io);
  return EXIT.ok;
}

export async function resume(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = jobArg(args, "resume");
  await askDaemon(args, io, { op: "resume", identity });
  await printValue({ identity }, () => `${identity} goes on\n`, args, io);
  return EXIT.ok;
}
