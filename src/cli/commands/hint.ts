import { plainText } from "../../core/base/plain-text.js";
import type { Problem } from "../../core/base/problem.js";
import { byText } from "../../core/governor/author.js";
import { type HintWish, readHint } from "../../core/governor/hint.js";
import { formatDuration } from "../../core/time/duration.js";
import type { ControlClient } from "../../krond/control/client.js";
import type { HintsAnswer } from "../../operations/records/hints.js";
import type { ParsedArgs } from "../args.js";
import { askOrRun, withDaemon } from "../daemon.js";
import { EXIT, usageError } from "../exit.js";
import { forEachOf, type Group, type GroupWords, groupOf } from "../group.js";
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

/** Whose hints they are: jobs by their identities, or endpoints by what people call them. */
interface Hinted {
  readonly noun?: string;
  select(client: ControlClient): Promise<Group>;
  identityOf(name: string): string;
  published(name: string, value: HintsAnswer): unknown;
}

function jobsOf(args: ParsedArgs): Hinted {
  return {
    select: (client) => groupOf(client, args, "hint"),
    identityOf: (name) => name,
    published: (_name, value) => value,
  };
}

function wordsFor({ noun, published }: Hinted, verb: string): GroupWords {
  return {
    done: (name, value) => textOf(name, value as HintsAnswer),
    published: (name, value) => published(name, value as HintsAnswer),
    verb,
    ...(noun === undefined ? {} : { noun }),
  };
}

function set(hinted: Hinted, wish: HintWish, args: ParsedArgs, io: CliIo): Promise<number> {
  const hint = readHint(wish, io.now());
  if (!hint.ok) refuse(hint.error);
  const { intervalMs = null, nextRunAt = null, ttlMs = null, reason = "" } = wish;
  return withDaemon(args, io, async (client) => {
    const wanted = { op: "hint" as const, intervalMs, nextRunAt, ttlMs, reason };
    const ask = (name: string) => client.ask({ ...wanted, identity: hinted.identityOf(name) });
    return forEachOf(await hinted.select(client), ask, wordsFor(hinted, "hinted"), args, io);
  });
}

function clear(hinted: Hinted, written: string, args: ParsedArgs, io: CliIo): Promise<number> {
  const kind = KINDS.find((known) => known === written);
  if (kind === undefined) throw usageError(`--clear: "${written}" is neither interval nor oneshot`);
  return withDaemon(args, io, async (client) => {
    const ask = (name: string) => client.ask({ op: "unhint", identity: hinted.identityOf(name), kind });
    return forEachOf(await hinted.select(client), ask, wordsFor(hinted, "cleared the hints of"), args, io);
  });
}

function show(hinted: Hinted, args: ParsedArgs, io: CliIo): Promise<number> {
  return withDaemon(args, io, async (client) => {
    const ask = (name: string) => client.ask({ op: "hints", identity: hinted.identityOf(name) });
    const words = { ...wordsFor(hinted, "hinted"), summary: () => "" };
    return forEachOf(await hinted.select(client), ask, words, args, io);
  });
}

/** Of one job also without a daemon. */
async function showJobs(args: ParsedArgs, io: CliIo): Promise<number> {
  const [only, ...more] = args.positionals;
  if (only === undefined || more.length > 0 || args.text("tag") !== undefined || /[*?]/.test(only)) {
    return show(jobsOf(args), args, io);
  }
  const value = await askOrRun<HintsAnswer>(args, io, { op: "hints", identity: only });
  await printValue(value, () => textOf(only, value), args, io);
  return EXIT.ok;
}

function textOf(name: string, { interval, oneshot }: HintsAnswer): string {
  const lines = [
    ...(oneshot === null ? [] : [`once at ${oneshot.next_run_at}, good until ${aboutText(oneshot)}`]),
    ...(interval === null ? [] : [`every ${formatDuration(interval.interval_ms)} until ${aboutText(interval)}`]),
  ];
  if (lines.length === 0) return `${name}: no hint in force\n`;
  return lines.map((line) => `${name}: ${line}\n`).join("");
}

function aboutText({ expires_at, reason, by }: NonNullable<HintsAnswer["interval"] | HintsAnswer["oneshot"]>): string {
  const until = `${expires_at}${byText(by ?? undefined)}`;
  return reason === "" ? until : `${until} (${plainText(reason)})`;
}

export function run(args: ParsedArgs, io: CliIo): Promise<number> {
  return hint(jobsOf(args), () => showJobs(args, io), args, io);
}

export function hintEndpoints(hinted: Hinted, args: ParsedArgs, io: CliIo): Promise<number> {
  return hint(hinted, () => show(hinted, args, io), args, io);
}

async function hint(hinted: Hinted, showAll: () => Promise<number>, args: ParsedArgs, io: CliIo): Promise<number> {
  const wish = await wishOf(args, io);
  const cleared = args.text("clear");
  if (cleared === undefined) return isWish(wish) ? set(hinted, wish, args, io) : showAll();
  if (isWish(wish)) throw usageError("--clear stands alone", "clear first, then set another hint");
  return clear(hinted, cleared, args, io);
}
