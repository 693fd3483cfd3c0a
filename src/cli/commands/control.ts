import type { RunNowResult } from "../../actors/supervisor/port.js";
import { holderField } from "../../core/state/ending.js";
import { formatSecond } from "../../core/time/instant.js";
import type { ParsedArgs } from "../args.js";
import { askDaemon } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { momentArg, oneJob } from "../job-args.js";
import { parseJobPeriod } from "../job-period.js";
import { printValue } from "../output.js";

export async function runNow(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = oneJob(args, "run");
  const value = (await askDaemon(args, io, { op: "run", identity })) as Extract<RunNowResult, { ok: true }>;
  const { slot, attemptId: attempt_id, pid, holder } = value;
  const what = holder === "process" ? `started ${identity}, PID ${pid}` : `sent the request of ${identity}`;
  const told = { identity, slot, attempt_id, pid, ...holderField(holder) };
  await printValue(told, () => `${what}, slot ${slot}\n`, args, io);
  return EXIT.ok;
}

export async function cancel(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const { identity, periodAt } = parseJobPeriod(oneJob(args, "cancel"));
  const value = (await askDaemon(args, io, { op: "cancel", identity, periodAt })) as { readonly ended: number };
  const runs = value.ended === 1 ? "1 run" : `${value.ended} runs`;
  await printValue({ identity, ended: value.ended }, () => `asked ${runs} of ${identity} to end\n`, args, io);
  return EXIT.ok;
}

export async function pause(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = oneJob(args, "pause");
  const untilAt = momentArg(args, "until", io);
  if (untilAt === undefined) throw usageError("a pause needs an end", "--until 2h, or --until 2026-03-01T00:00:00Z");
  const reason = args.text("reason");
  if (reason === undefined || reason === "") throw usageError("a pause needs a reason", '--reason "database upgrade"');
  const catchUp = args.has("catch-up");
  await askDaemon(args, io, { op: "pause", identity, untilAt, reason, catchUp });
  const until = formatSecond(untilAt);
  await printValue(
    { identity, until, reason, catch_up: catchUp },
    () => `${identity} is paused until ${until}\n`,
    args,
    io,
  );
  return EXIT.ok;
}

export async function resume(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = oneJob(args, "resume");
  await askDaemon(args, io, { op: "resume", identity });
  await printValue({ identity }, () => `${identity} goes on\n`, args, io);
  return EXIT.ok;
}
