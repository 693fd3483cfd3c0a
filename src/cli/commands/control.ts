import type { RunNowResult } from "../../actors/supervisor/port.js";
import { holderField } from "../../core/state/ending.js";
import { formatSecond } from "../../core/time/instant.js";
import type { ControlClient } from "../../krond/control/client.js";
import type { ParsedArgs } from "../args.js";
import { withDaemon } from "../daemon.js";
import { EXIT, usageError } from "../exit.js";
import { plural } from "../format.js";
import { forEachOf, type GroupWords, groupOf } from "../group.js";
import type { CliIo } from "../io.js";
import { printValue } from "../output.js";
import { type Begun, ends, type RunEnd } from "../run-wait.js";

type Started = Extract<RunNowResult, { ok: true }>;

const RUN_WORDS: GroupWords = {
  done: (identity, value) => {
    const { slot, pid, holder } = value as Started;
    const what = holder === "process" ? `started ${identity}, PID ${pid}` : `sent the request of ${identity}`;
    return `${what}, slot ${slot}\n`;
  },
  published: (identity, value) => {
    const { slot, attemptId: attempt_id, pid, holder } = value as Started;
    return { identity, slot, attempt_id, pid, ...holderField(holder) };
  },
  verb: "started",
};

export function runNow(args: ParsedArgs, io: CliIo): Promise<number> {
  return withDaemon(args, io, async (client) => {
    const group = await groupOf(client, args, "run");
    const ifIdle = args.has("if-idle") ? { ifIdle: true } : {};
    const begun: Begun[] = [];
    const start = async (identity: string): Promise<unknown> => {
      const value = (await client.ask({ op: "run", identity, ...ifIdle })) as Started;
      begun.push({ identity, slot: value.slot });
      return value;
    };
    if (!args.has("wait") || args.has("dry-run")) return forEachOf(group, start, RUN_WORDS, args, io);
    // What was started is told once it has ended: one answer to one command.
    const code = await forEachOf(group, start, { ...RUN_WORDS, isSilent: true }, args, io);
    return waitFor(client, code, begun, args, io);
  });
}

/** The exit code is that of the job; of several jobs, of the first that did not succeed. */
async function waitFor(
  client: ControlClient,
  startedCode: number,
  begun: readonly Begun[],
  args: ParsedArgs,
  io: CliIo,
): Promise<number> {
  const results = await ends(client, begun);
  const text = () => results.map(endLine).join("");
  const published = results.map(({ identity, slot, row, exitCode }) => ({
    identity,
    slot,
    exit_code: exitCode,
    run: row,
  }));
  await printValue(published.length === 1 ? published[0] : published, text, args, io);
  return results.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? startedCode;
}

function endLine({ identity, slot, text }: RunEnd): string {
  return `${identity}, slot ${slot}: ${text}\n`;
}

export async function cancel(args: ParsedArgs, io: CliIo): Promise<number> {
  const named = await periodNamed(args, io);
  return withDaemon(args, io, async (client) => {
    const periodAt = named?.periodAt ?? null;
    const group =
      named === null ? await groupOf(client, args, "cancel") : { identities: [named.identity], isGroup: false };
    let ended = 0;
    const words: GroupWords = {
      done: (identity, value) => cancelText(identity, (value as { readonly ended: number }).ended),
      published: (identity, value) => ({ identity, ended: (value as { readonly ended: number }).ended }),
      verb: "cancelled",
      summary: (values) => `asked ${plural(ended, "run")} of ${plural(values.length, "job")} to end`,
    };
    const ask = async (identity: string): Promise<unknown> => {
      const value = (await client.ask({ op: "cancel", identity, periodAt })) as { readonly ended: number };
      ended += value.ended;
      return value;
    };
    const code = await forEachOf(group, ask, words, args, io);
    return code === EXIT.ok && ended === 0 && !args.has("dry-run") ? EXIT.usage : code;
  });
}

async function periodNamed(args: ParsedArgs, io: CliIo) {
  const [only = "", ...more] = args.positionals;
  if (more.length > 0 || !only.includes("@")) return null;
  const { jobPeriodOf } = await import("../job-period.js");
  const { identity, periodAt } = await jobPeriodOf(only, args, io);
  return periodAt === null ? null : { identity, periodAt };
}

function cancelText(identity: string, ended: number): string {
  if (ended === 0) return `nothing of ${identity} is running: there is nothing to cancel\n`;
  return `asked ${ended === 1 ? "1 run" : `${ended} runs`} of ${identity} to end\n`;
}

export async function pause(args: ParsedArgs, io: CliIo): Promise<number> {
  const { momentArg, viewerZone, wallText } = await import("../moments.js");
  const untilAt = await momentArg(args, "until", io);
  if (untilAt === undefined)
    throw usageError("a pause needs an end", "--until 2h, --until tomorrow, --until 'fri 18:00'");
  const reason = args.text("reason");
  if (reason === undefined || reason === "") throw usageError("a pause needs a reason", '--reason "database upgrade"');
  const until = formatSecond(untilAt);
  const catchUp = args.has("catch-up");
  const zone = viewerZone(args, io);
  const wall = zone.id === "UTC" ? "" : ` (${wallText(untilAt, zone)})`;
  const words: GroupWords = {
    done: (identity) => `${identity} is paused until ${until}${wall}\n`,
    published: (identity) => ({ identity, until, reason, catch_up: catchUp }),
    verb: "paused",
    tail: ` until ${until}${wall}`,
  };
  return withDaemon(args, io, async (client) => {
    const group = await groupOf(client, args, "pause");
    const ask = (identity: string): Promise<unknown> => client.ask({ op: "pause", identity, untilAt, reason, catchUp });
    return forEachOf(group, ask, words, args, io);
  });
}

const RESUME_WORDS: GroupWords = {
  done: (identity) => `${identity} goes on\n`,
  published: (identity) => ({ identity }),
  verb: "resumed",
};

export function resume(args: ParsedArgs, io: CliIo): Promise<number> {
  return withDaemon(args, io, async (client) => {
    const group = await groupOf(client, args, "resume");
    return forEachOf(group, (identity) => client.ask({ op: "resume", identity }), RESUME_WORDS, args, io);
  });
}
