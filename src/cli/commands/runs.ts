/** `kron runs`: what was sent, and what came of it. */
import { formatInstant } from "../../core/time/instant.js";
import type { RunAnswer, RunDetailAnswer } from "../../operations/endpoints/shapes.js";
import { countArg, outputForm, type ParsedArgs } from "../args.js";
import { type NamedEndpoint, Names } from "../endpoints/names.js";
import { publishedAs } from "../endpoints/published.js";
import {
  type FetchRuns,
  followed,
  newest,
  type RunWish,
  runsOfEndpoint,
  runsOfTenant,
} from "../endpoints/run-pages.js";
import { type NamedRun, runColumns, runText } from "../endpoints/run-text.js";
import { type Ask, withTenant } from "../endpoints/tenant.js";
import { EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { printPages } from "../list-output.js";
import { momentArg, momentOf, viewerZone } from "../moments.js";
import { printValue } from "../output.js";
import { paintFor } from "../style.js";
import { FittedTable } from "../table.js";
import { DEFAULT_RUNS, RUN_STATUSES } from "./specs/runs.js";

const MOST = 1_000_000;
const RUN_ID = /^run_[0-9a-z]{16}_[0-9a-z]{16}_/;
/** `billing/sync@2026-11-19T10:00:00Z`: one run of an endpoint, by its time. */
const AT_TIME = /^(.+)@(\d[^@]*)$/s;
const FAILED = ["failure", "timeout", "unknown"] as const;

type Status = RunAnswer["status"];

function statusesOf(args: ParsedArgs): readonly Status[] | undefined {
  const words = (args.text("status") ?? "").split(",").filter((word) => word !== "");
  if (!args.has("failed") && words.length === 0) return undefined;
  if (args.has("failed") && words.length > 0)
    throw usageError(`--failed is --status ${FAILED.join(",")}: give one of them`);
  const statuses = words.map((word) => {
    const status = RUN_STATUSES.find((known) => known === word);
    if (status === undefined) throw usageError(`--status: "${word}" is not one of ${RUN_STATUSES.join(", ")}`);
    return status;
  });
  return args.has("failed") ? FAILED : [...new Set(statuses)];
}

async function wishOf(args: ParsedArgs, io: CliIo): Promise<RunWish> {
  const statuses = statusesOf(args);
  const sinceAt = await momentArg(args, "since", io, "back");
  return {
    ...(statuses === undefined ? {} : { statuses }),
    ...(sinceAt === undefined ? {} : { since: formatInstant(sinceAt) }),
  };
}

export async function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const [word, ...more] = args.positionals;
  if (more.length > 0) throw usageError("runs takes one endpoint, or none for all of them", "kron runs JOB/NAME");
  const wish = await wishOf(args, io);
  const isEndless = args.has("follow");
  if (isEndless && outputForm(args) === "json") throw usageError("what has no end is no JSON", "use -o jsonl");
  if (isEndless && wish.since !== undefined) throw usageError("--follow shows what comes, and --since looks back");
  return withTenant(args, io, async (ask) => {
    const names = new Names(ask);
    if (word === undefined) return ofTenant(ask, names, wish, args, io);
    if (RUN_ID.test(word)) return oneRun(ask, names, [word], args, io);
    const [, written, time] = AT_TIME.exec(word) ?? [];
    if (written === undefined || time === undefined) {
      return ofEndpoint(ask, await names.endpoint(word, args.text("job")), wish, args, io);
    }
    const found = await names.endpoint(written, args.text("job"));
    const at = await momentOf(time, "the time", "back", args, io);
    return oneRun(ask, names, await runsAt(ask, found, at), args, io);
  });
}

function ofEndpoint(ask: Ask, found: NamedEndpoint, wish: RunWish, args: ParsedArgs, io: CliIo): Promise<number> {
  const fetch = runsOfEndpoint(ask, found.endpoint.id, wish);
  return print({ fetch, wish, isWanted: () => true, labelOf: async () => found.label, hasLabels: false }, args, io);
}

async function ofTenant(ask: Ask, names: Names, wish: RunWish, args: ParsedArgs, io: CliIo): Promise<number> {
  if (wish.statuses?.includes("running") === true) {
    throw usageError("--status running is about one endpoint", "kron runs JOB/NAME --status running");
  }
  const among = args.text("job");
  const of = among === undefined ? null : (await names.job(among)).id;
  const isWanted = ({ jobId }: RunAnswer): boolean => of === null || jobId === of;
  const fetch = runsOfTenant(ask, wish);
  return print({ fetch, wish, isWanted, labelOf: (row) => names.label(row), hasLabels: true }, args, io);
}

interface Shown {
  readonly fetch: FetchRuns;
  readonly wish: RunWish;
  readonly isWanted: (run: RunAnswer) => boolean;
  readonly labelOf: (run: RunAnswer) => Promise<string>;
  readonly hasLabels: boolean;
}

async function print(
  { fetch, wish, isWanted, labelOf, hasLabels }: Shown,
  args: ParsedArgs,
  io: CliIo,
): Promise<number> {
  const count = countArg(args, "count", DEFAULT_RUNS, MOST);
  const zone = args.has("local") ? viewerZone(args, io) : null;
  const table = new FittedTable(runColumns(io.now(), zone, hasLabels), io.outColumns ?? null, paintFor(args, io));
  const pages = args.has("follow") ? followed(fetch, count, isWanted) : newest(fetch, count, wish.since, isWanted);
  await printPages(named(pages, labelOf), table, args, io, publishedRun);
  return EXIT.ok;
}

async function* named(
  pages: AsyncIterable<readonly RunAnswer[]>,
  labelOf: (run: RunAnswer) => Promise<string>,
): AsyncGenerator<readonly NamedRun[]> {
  for await (const rows of pages) {
    yield await Promise.all(rows.map(async (row) => ({ label: await labelOf(row), run: row })));
  }
}

function publishedRun({ label, run: row }: NamedRun): object {
  return publishedAs({ endpoint: label }, row);
}

/** There may be one by hand beside that of the schedule. */
async function runsAt(ask: Ask, { label, endpoint }: NamedEndpoint, at: number): Promise<readonly string[]> {
  const time = formatInstant(at);
  const found: string[] = [];
  for await (const rows of newest(runsOfEndpoint(ask, endpoint.id, {}), MOST, time, () => true)) {
    found.push(...rows.filter(({ scheduledFor }) => Date.parse(scheduledFor) === at).map(({ id }) => id));
  }
  if (found.length > 0) return found;
  throw usageError(`no run of ${label} was scheduled for ${time}`, `'kron runs ${label}' shows those that were`);
}

async function oneRun(ask: Ask, names: Names, ids: readonly string[], args: ParsedArgs, io: CliIo): Promise<number> {
  const runs: { readonly label: string; readonly run: RunDetailAnswer }[] = [];
  for (const runId of ids) {
    const found = await ask<RunDetailAnswer>({ op: "runs.get", runId });
    runs.push({ label: await names.label(found), run: found });
  }
  const text = (): string => runs.map(({ label, run: one }) => runText(label, one, paintFor(args, io))).join("\n");
  const values = runs.map(publishedRun);
  await printValue(values.length === 1 ? values[0] : values, text, args, io);
  return EXIT.ok;
}
