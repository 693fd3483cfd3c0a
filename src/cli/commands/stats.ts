/** `kron stats`: the health of endpoints. */
import { plainText } from "../../core/base/plain-text.js";
import type { HealthAnswer } from "../../operations/endpoints/health.js";
import { countArg, type ParsedArgs } from "../args.js";
import { type NamedEndpoint, Names } from "../endpoints/names.js";
import { publishedAs } from "../endpoints/published.js";
import { type Ask, withTenant } from "../endpoints/tenant.js";
import { oneLine, rateText, scheduleText, tookText } from "../endpoints/texts.js";
import { EXIT, usageError } from "../exit.js";
import { plural } from "../format.js";
import type { CliIo } from "../io.js";
import { printPages } from "../list-output.js";
import { oneOf } from "../listen-address.js";
import { printValue } from "../output.js";
import { type Align, type Paint, paintFor, renderTable } from "../style.js";
import { type Cell, type Column, FittedTable } from "../table.js";
import { DEFAULT_WINDOW, STATS_WINDOWS } from "./specs/stats.js";

const MOST = 10_000_000;
/** Asked for at once: what is known of each is one look at what is counted already. */
const CHUNK = 50;

type WindowName = keyof HealthAnswer["windows"];

interface Row extends NamedEndpoint {
  readonly health: HealthAnswer;
}

export async function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const [word, ...more] = args.positionals;
  if (more.length > 0) throw usageError("stats takes one endpoint, or none for all of them", "kron stats JOB/NAME");
  const window = oneOf(args, "window", STATS_WINDOWS);
  if (word !== undefined && window !== undefined)
    throw usageError("--window is for several endpoints: of one all are shown");
  return withTenant(args, io, async (ask) => {
    const names = new Names(ask);
    if (word !== undefined) return ofOne(ask, await names.endpoint(word, args.text("job")), args, io);
    return ofAll(ask, names, window ?? DEFAULT_WINDOW, args, io);
  });
}

function healthOf(ask: Ask, { endpoint }: NamedEndpoint): Promise<HealthAnswer> {
  return ask({ op: "endpoints.health", endpointId: endpoint.id });
}

async function ofOne(ask: Ask, found: NamedEndpoint, args: ParsedArgs, io: CliIo): Promise<number> {
  const health = await healthOf(ask, found);
  const row = { ...found, health };
  await printValue(published(row), () => healthText(row, paintFor(args, io)), args, io);
  return EXIT.ok;
}

async function ofAll(ask: Ask, names: Names, window: WindowName, args: ParsedArgs, io: CliIo): Promise<number> {
  const among = args.text("job");
  const of = among === undefined ? undefined : (await names.job(among)).id;
  const most = countArg(args, "count", MOST, MOST);
  const table = new FittedTable(columnsOf(window), io.outColumns ?? null, paintFor(args, io));
  await printPages(rowsOf(ask, names.endpoints(of), most, args.has("failed")), table, args, io, published);
  return EXIT.ok;
}

async function* rowsOf(
  ask: Ask,
  pages: AsyncIterable<readonly NamedEndpoint[]>,
  most: number,
  isFailing: boolean,
): AsyncGenerator<readonly Row[]> {
  let left = most;
  for await (const page of pages) {
    const wanted = page.filter(({ endpoint }) => !isFailing || endpoint.failureCount > 0).slice(0, left);
    for (let at = 0; at < wanted.length; at += CHUNK) {
      const chunk = wanted.slice(at, at + CHUNK);
      yield await Promise.all(chunk.map(async (each) => ({ ...each, health: await healthOf(ask, each) })));
    }
    left -= wanted.length;
    if (left <= 0) return;
  }
}

function published({ label, endpoint, health }: Row): object {
  return publishedAs({ endpoint: label, id: endpoint.id }, health);
}

function columnsOf(window: WindowName): readonly Column<Row>[] {
  return [
    { title: "ENDPOINT", rank: 6, least: 16, cap: 40, cell: ({ label }) => label },
    { title: `RUNS (${window})`, rank: 3, least: 5, cell: ({ health }) => String(health.windows[window].runs) },
    { title: "SUCCESS", rank: 5, least: 6, cell: ({ health }) => rateCell(health.windows[window].successRate) },
    { title: "P50", rank: 2, least: 5, cell: ({ health }) => tookText(health.windows[window].p50Ms) },
    { title: "P95", rank: 2, least: 5, cell: ({ health }) => tookText(health.windows[window].p95Ms) },
    { title: "STREAK", rank: 4, least: 6, cell: streakCell },
    { title: "LAST ERROR", rank: 1, least: 10, cap: 80, cell: ({ health }) => errorText(health.lastErrors[0]) },
  ];
}

function rateCell(rate: number | null): Cell {
  const text = rateText(rate);
  if (rate === null) return { text };
  return { text, colour: rate === 1 ? "green" : rate >= 0.9 ? "yellow" : "red" };
}

function streakCell({ health: { streak } }: Row): Cell {
  if (streak.failures > 0) return { text: `${streak.failures} failed`, colour: "red" };
  return { text: streak.successes === 0 ? "-" : `${streak.successes} ok` };
}

/** What people were told of it, and what they have not got yet. */
function troubleText({ trouble, undelivered: { count, error } }: HealthAnswer): string {
  const since = trouble === null ? "" : `in trouble (${trouble.kind}) since ${trouble.since}`;
  const told = trouble === null ? "" : `, ${trouble.isTold ? "which was told" : "which is not told yet"}`;
  const why = error === null ? "" : `: ${oneLine(error)}`;
  const waits = count === 0 ? "" : `${plural(count, "message")} nobody has taken yet${why}`;
  return [`${since}${told}`, waits].flatMap((line) => (line === "" ? [] : [`${line}\n`])).join("");
}

function errorText(error: HealthAnswer["lastErrors"][number] | undefined): string {
  if (error === undefined) return "";
  return error.message === "" || error.message === error.code ? error.code : `${error.code}: ${oneLine(error.message)}`;
}

const HEADER = ["WINDOW", "RUNS", "SUCCESS", "ERRORS", "IDLE", "P50", "P95"];
const ALIGN: readonly Align[] = ["left", "right", "right", "right", "right", "right", "right"];

function healthText({ label, endpoint, health }: Row, paint: Paint): string {
  const cells = STATS_WINDOWS.map((name) => {
    const { runs, successRate, errors, idle, p50Ms, p95Ms } = health.windows[name];
    return [name, String(runs), rateText(successRate), String(errors), String(idle), tookText(p50Ms), tookText(p95Ms)];
  });
  const errors = health.lastErrors.map((error) => `  ${error.at}  ${errorText(error)}\n`);
  const last = errors.length === 0 ? "" : `last errors:\n${errors.join("")}`;
  const told = troubleText(health);
  const stopped = health.stopped === null ? "" : `; paused by kron: ${oneLine(health.stopped)}`;
  return `${paint.bold(plainText(label))}: ${scheduleText(endpoint)}; ${streakText(health)}${stopped}\n${told}${renderTable(HEADER, cells, ALIGN, paint)}${last}`;
}

function streakText({ streak: { failures, successes, since } }: HealthAnswer): string {
  if (failures === 0 && successes === 0) return "no run yet";
  const what =
    failures > 0 ? `${plural(failures, "failure")}` : `${successes} ${successes === 1 ? "success" : "successes"}`;
  return `${what} in a row${since === null ? "" : ` since ${since}`}`;
}
