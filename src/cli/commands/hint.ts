import type { Problem } from "../../core/base/problem.js";
import { type HintWish, readHint } from "../../core/governor/hint.js";
import { formatDuration } from "../../core/time/duration.js";
import { type HintsAnswer, readHints } from "../../krond/state/hints.js";
import type { ParsedArgs } from "../args.js";
import { askDaemon, askOrRead } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { durationArg } from "../forecast/options.js";
import type { CliIo } from "../io.js";
import { momentArg, oneJob } from "../job-args.js";
import { printValue } from "../output.js";

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

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const identity = oneJob(args, "hint");
  const wish = wishOf(args, io);
  const cleared = args.text("clear");
  if (cleared === undefined) return isWish(wish) ? set(identity, wish, args, io) : show(identity, args, io);
  if (isWish(wish)) throw usageError("--clear stands alone", "clear first, then set another hint");
  return clear(identity, cleared, args, io);
}
