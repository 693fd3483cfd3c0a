import type { Problem } from "../../core/base/problem.js";
import { type HintWish, readHint } from "../../core/governor/hint.js";
import { formatDuration } from "../../core/time/duration.js";
import { type HintsAnswer, readHints } from "../../krond/state/hints.js";
import type { ParsedArgs } from "../args.js";
import { askOrRead, withDaemon } from "../daemon.js";
import { EXIT, usageError } from "../exit.js";
import { forEachOf, type GroupWords, groupOf } from "../group.js";
import type { CliIo } from "../io.js";
import { durationArg, momentArg } from "../moments.js";
import { printValue } from "../output.js";

/** What the fields of a hint are called on the command line. */
const OPTION_OF: Readonly<Record<keyof HintWish, string>> = {
  intervalMs: "--every",
  nextRunAt: "--at",
  ttlMs: "--ttl",
  reason: "--reason",
};

const KINDS = ["all", "interval", "oneshot"] as const;

async function wishOf(args: ParsedArgs, io: CliIo): Promise<HintWish> {
  return {
    intervalMs: durationArg(args, "every") ?? null,
    nextRunAt: (await momentArg(args, "at", io)) ?? null,
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

const WORDS: GroupWords = {
  done: (_identity, value) => textOf(value as HintsAnswer),
  published: (_identity, value) => value,
  verb: "hinted",
};

function set(wish: HintWish, args: ParsedArgs, io: CliIo): Promise<number> {
  const hint = readHint(wish, io.now());
  if (!hint.ok) refuse(hint.error);
  const { intervalMs = null, nextRunAt = null, ttlMs = null, reason = "" } = wish;
  return withDaemon(args, io, async (client) => {
    const ask = (identity: string) => client.ask({ op: "hint", identity, intervalMs, nextRunAt, ttlMs, reason });
    return forEachOf(await groupOf(client, args, "hint"), ask, WORDS, args, io);
  });
}

function clear(written: string, args: ParsedArgs, io: CliIo): Promise<number> {
  const kind = KINDS.find((known) => known === written);
  if (kind === undefined) throw usageError(`--clear: "${written}" is neither interval nor oneshot`);
  return withDaemon(args, io, async (client) => {
    const ask = (identity: string) => client.ask({ op: "unhint", identity, kind });
    return forEachOf(await groupOf(client, args, "hint"), ask, { ...WORDS, verb: "cleared the hints of" }, args, io);
  });
}

/** Of one job also without a daemon. */
async function show(args: ParsedArgs, io: CliIo): Promise<number> {
  const [only, ...more] = args.positionals;
  if (only === undefined || more.length > 0 || args.text("tag") !== undefined || /[*?]/.test(only)) {
    return withDaemon(args, io, async (client) => {
      const ask = (identity: string) => client.ask({ op: "hints", identity });
      return forEachOf(await groupOf(client, args, "hint"), ask, { ...WORDS, summary: () => "" }, args, io);
    });
  }
  const { value } = await askOrRead<HintsAnswer>(args, io, { op: "hints", identity: only }, (reader) =>
    readHints(reader, only, io.now()),
  );
  await printValue(value, () => textOf(value), args, io);
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

export async function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const wish = await wishOf(args, io);
  const cleared = args.text("clear");
  if (cleared === undefined) return isWish(wish) ? set(wish, args, io) : show(args, io);
  if (isWish(wish)) throw usageError("--clear stands alone", "clear first, then set another hint");
  return clear(cleared, args, io);
}
