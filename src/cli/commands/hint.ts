import type { Problem } from "../../core/base/problem.js";
import { type HintWish, readHint } from "../../core/governor/hint.js";
import { formatDuration } from "../../core/time/duration.js";
import { type HintsAnswer, readHints } from "../../krond/state/hints.js";
import type { ParsedArgs } from "../args.js";
import type { Command } from "../command.js";
import { askDaemon, askOrRead } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { durationArg } from "../forecast/options.js";
import type { CliIo } from "../io.js";
import { momentArg, oneJob } from "../job-args.js";
import { printValue } from "../output.js";
import { STATE_OPTION } from "../state-options.js";

/** What the fields of a hint are called on the command line. */
const OPTION_OF: Readonly<Record<keyof HintWish, string>> = {
  intervalMs: "--every",
  nextRunAt: "--at",
  ttlMs: "--ttl",
  reason: "--reason",
};

const KINDS = ["all", "interval", "oneshot"] as const;

function wishOf(args: ParsedArgs, io: CliIo): HintWish {
  return {
    intervalMs: durationArg(args, "every") ?? null,
    nextRunAt: momentArg(args, "at", io) ?? null,
    ttlMs: durationArg(args, "ttl") ?? null,
    reason: args.text("reason") ?? "",
  };
}

function isWish({ intervalMs, nextRunAt, ttlMs, reason }: HintWish): boolean {
  return intervalMs !== null || nextRunAt !== null || ttlMs !== null || reason !== "";
}

function refuse(problems: readonly Problem[]): never {
  const [first] = problems;
  const field = String(first?.path[0] ?? "") as keyof HintWish;
  throw usageError(`${OPTION_OF[field] ?? field}: ${first?.message ?? ""}`, EXAMPLE);
}

const EXAMPLE = "kron hint JOB --every 30s --ttl 2h, or kron hint JOB --at 2026-03-01T14:30:00Z";

async function set(identity: string, wish: HintWish, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const hint = readHint(wish, io.now());
  if (!hint.ok) refuse(hint.error);
  const { intervalMs = null, nextRunAt = null, ttlMs = null, reason = "" } = wish;
  const value = await askDaemon(args, io, { op: "hint", identity, intervalMs, nextRunAt, ttlMs, reason });
  return print(value as HintsAnswer, args, io);
}

async function clear(identity: string, written: string, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const kind = KINDS.find((known) => known === written);
  if (kind === undefined) throw usageError(`--clear: "${written}" is neither interval nor oneshot`);
  return print((await askDaemon(args, io, { op: "unhint", identity, kind })) as HintsAnswer, args, io);
}

async function show(identity: string, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const { value } = await askOrRead<HintsAnswer>(args, io, { op: "hints", identity }, (reader) =>
    readHints(reader, identity, io.now()),
  );
  return print(value, args, io);
}

async function print(answer: HintsAnswer, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  await printValue(answer, () => textOf(answer), args, io);
  return EXIT.ok;
}

function textOf({ identity, interval, oneshot }: HintsAnswer): string {
  const lines = [
    ...(oneshot === null ? [] : [`once at ${oneshot.next_run_at}, good until ${aboutText(oneshot)}`]),
    ...(interval === null ? [] : [`every ${formatDuration(interval.interval_ms)} until ${aboutText(interval)}`]),
  ];
  if (lines.length === 0) return `${identity}: no hint in force\n`;
  return lines.map((line) => `${identity}: ${line}\n`).join("");
}

function aboutText({ expires_at, reason }: { readonly expires_at: string; readonly reason: string }): string {
  return reason === "" ? expires_at : `${expires_at} (${reason})`;
}

async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = oneJob(args, "hint");
  const wish = wishOf(args, io);
  const cleared = args.text("clear");
  if (cleared === undefined) return isWish(wish) ? set(identity, wish, args, io) : show(identity, args, io);
  if (isWish(wish)) throw usageError("--clear stands alone", "clear first, then set another hint");
  return clear(identity, cleared, args, io);
}

export const HINT: Command = {
  name: "hint",
  summary: "let a job run otherwise for a while",
  usage: "JOB [OPTIONS]",
  details: `
Until it ends, a hint stands in for the schedule of JOB: with --every the job runs at that interval, with --at once at that
instant. The bounds min_interval and max_interval of the job hold all the same, and so do suspension and pauses. When the
hint is over, cleared, or used up by its run, the schedule holds again. A new hint takes the place of one of its kind; an
instant goes before an interval. Without options it shows the hints in force.

  kron hint prod/poll --every 30s --ttl 2h --reason "errors upstream"
  kron hint prod/report --at 2026-03-01T14:30:00Z
  kron hint prod/poll --clear`,
  options: [
    STATE_OPTION,
    { name: "every", value: "DURATION", help: "the interval from the start of one run to the next; needs --ttl" },
    { name: "at", value: "WHEN", help: "one run: an RFC 3339 instant, or a duration from now" },
    {
      name: "ttl",
      value: "DURATION",
      help: "how long the hint holds (with --at by default an hour beyond the instant)",
    },
    { name: "reason", value: "TEXT", help: "why; 'kron why' repeats it" },
    { name: "clear", value: "interval|oneshot", bare: "all", help: "end the hints in force, or the one of that kind" },
  ],
  run,
};
