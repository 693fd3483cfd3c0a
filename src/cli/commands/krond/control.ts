import { formatSecond } from "../../../core/time/instant.js";
import type { PlanAnswer, StatusAnswer } from "../../../krond/control/requests.js";
import type { ParsedArgs } from "../../args.js";
import type { Command } from "../../command.js";
import { askDaemon, withDaemon } from "../../daemon.js";
import { EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { printValue } from "../../output.js";
import { STATE_OPTION } from "../../state-options.js";
import { paintFor, renderPairs } from "../../style.js";
import { printPlan } from "../plan.js";

function noArguments(args: ParsedArgs, verb: string): void {
  if (args.positionals.length > 0) throw usageError(`${verb} takes no arguments`);
}

async function status(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
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

async function reload(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  noArguments(args, "reload");
  return printPlan((await askDaemon(args, io, { op: "reload" })) as PlanAnswer, "reloaded", args, io);
}

/** The daemon has ended when it closes the connection. */
async function stop(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  noArguments(args, "stop");
  const { pid } = await withDaemon(args, io, async (client) => {
    await client.ask({ op: "stop", graceful: args.has("graceful") }, null);
    await client.ended;
    return client.hello;
  });
  await printValue({ stopped: true, pid }, () => `krond (PID ${pid}) has stopped\n`, args, io);
  return EXIT.ok;
}

export const STATUS: Command = {
  name: "status",
  summary: "ask the running daemon how it is",
  usage: "[OPTIONS]",
  details: `
Exits 0 when a daemon runs on the state directory, and 1 when none does.

  krond status --state /var/lib/krond`,
  options: [STATE_OPTION],
  run: status,
};

export const RELOAD: Command = {
  name: "reload",
  summary: "have the daemon read its configuration again",
  usage: "[OPTIONS]",
  details: `
Does what SIGHUP does and tells what has changed. An invalid job keeps the definition it has; then the exit code is 2.
'kron plan' tells beforehand.

  krond reload`,
  options: [STATE_OPTION],
  run: reload,
};

export const STOP: Command = {
  name: "stop",
  summary: "stop the daemon and wait until it has ended",
  usage: "[OPTIONS]",
  details: `
Starts nothing any more and ends the daemon. Running jobs go on, and the next daemon finds them again; with --graceful
the daemon waits for them first.

  krond stop --graceful`,
  options: [STATE_OPTION, { name: "graceful", help: "wait until nothing runs any more" }],
  run: stop,
};
