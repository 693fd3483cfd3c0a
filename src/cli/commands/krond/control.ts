import { formatSecond } from "../../../core/time/instant.js";
import type { PlanAnswer } from "../../../operations/system/plan-answer.js";
import type { StatusAnswer } from "../../../operations/system/system.js";
import type { ParsedArgs } from "../../args.js";
import { askDaemon, withDaemon } from "../../daemon.js";
import { EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { printValue } from "../../output.js";
import { paintFor, renderPairs } from "../../style.js";
import { printPlan } from "../plan.js";

function noArguments(args: ParsedArgs, verb: string): void {
  if (args.positionals.length > 0) throw usageError(`${verb} takes no arguments`);
}

export async function status(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  noArguments(args, "status");
  const value = (await askDaemon(args, io, { op: "status" })) as StatusAnswer;
  const { pid, version, stateDirectory, jobs, active, armed, nextDueAt, bootedAt } = value;
  const shown = {
    pid,
    version,
    state: stateDirectory,
    started_at: formatSecond(bootedAt),
    jobs,
    running: active,
    armed,
    next_due_at: nextDueAt === null ? null : formatSecond(nextDueAt),
  };
  const pairs = Object.entries(shown).map(([name, field]) => [name, String(field ?? "-")] as const);
  await printValue(shown, () => renderPairs(pairs, paintFor(args, io)), args, io);
  return EXIT.ok;
}

export async function reload(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  noArguments(args, "reload");
  return printPlan((await askDaemon(args, io, { op: "reload" })) as PlanAnswer, "reloaded", args, io);
}

/** The daemon has ended when it closes the connection. */
export async function stop(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  noArguments(args, "stop");
  const { pid } = await withDaemon(args, io, async (client) => {
    await client.ask({ op: "stop", graceful: args.has("graceful") }, null);
    await client.ended;
    return client.hello;
  });
  await printValue({ stopped: true, pid }, () => `krond (PID ${pid}) has stopped\n`, args, io);
  return EXIT.ok;
}
