import type { DaemonStatus, JobStatus } from "../../actors/supervisor/port.js";
import { INDEX_SORTS, type ListFilter, STANDINGS } from "../../actors/supervisor/rows/job-query.js";
import { OUTCOMES } from "../../core/state/document.js";
import { parseSpan } from "../../core/time/span.js";
import { ListJudge } from "../../operations/jobs/list-judge.js";
import { inOrder, SORTS, type Sort } from "../../operations/jobs/order.js";
import { OPERATION_LIMITS } from "../../operations/limits.js";
import type { StateReader } from "../../persist/store.js";
import { countArg, outputForm, type ParsedArgs } from "../args.js";
import { withDaemonOrStore } from "../daemon.js";
import { EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { listColumns } from "../list/columns.js";
import { type Found, foundBy, livePages, type Wish } from "../list/pages.js";
import { publishedRow } from "../list/row.js";
import { printPages } from "../list-output.js";
import { paintFor } from "../style.js";
import { FittedTable } from "../table.js";

const MOST = 10_000_000;
/** Jobs that are counted beyond those that are shown. */
const COUNTED_ON = 20_000;
/** Rows that are printed in one piece. */
const CHUNK = 500;

function words(args: ParsedArgs, name: string): readonly string[] {
  const found = (args.text(name) ?? "").split(",").filter((word) => word !== "");
  if (found.length <= OPERATION_LIMITS.filterWords) return found;
  throw usageError(`--${name}: more than ${OPERATION_LIMITS.filterWords} words`);
}

function filterOf(args: ParsedArgs, now: number): ListFilter {
  const outcomes = knownWords(args, "outcome", OUTCOMES);
  return {
    identities: identitiesIn(args),
    standings: knownWords(args, "standing", STANDINGS),
    ...(outcomes.length === 0 ? {} : { outcomes }),
    tags: words(args, "tag"),
    ...searchOf(args),
    ...(args.has("failed") ? { isFailing: true } : {}),
    ...(args.has("running") ? { isRunning: true } : {}),
    ...dueOf(args, now),
  };
}

/** As they are named by the option, or without it. */
function identitiesIn(args: ParsedArgs): readonly string[] {
  const found = [...words(args, "identity"), ...args.positionals];
  if (found.length <= OPERATION_LIMITS.filterWords) return found;
  throw usageError(`more than ${OPERATION_LIMITS.filterWords} names of jobs`);
}

function knownWords<Word extends string>(args: ParsedArgs, name: string, known: readonly Word[]): readonly Word[] {
  return words(args, name).map((text) => {
    const word = known.find((it) => it === text);
    if (word === undefined) throw usageError(`--${name}: "${text}" is not one of ${known.join(", ")}`);
    return word;
  });
}

function searchOf(args: ParsedArgs): Pick<ListFilter, "search"> {
  const search = args.text("search");
  return search === undefined ? {} : { search };
}

function dueOf(args: ParsedArgs, now: number): Pick<ListFilter, "dueBy"> {
  const text = args.text("due");
  if (text === undefined) return {};
  const within = parseSpan(text);
  if (!within.ok) throw usageError(`--due: ${within.error.message}`, "--due, or --due 1h");
  return { dueBy: now + within.value };
}

/** `unusable` is told what cannot be read. */
async function* storedPages(
  reader: StateReader,
  filter: ListFilter,
  now: number,
  unusable: string[],
): AsyncGenerator<readonly JobStatus[]> {
  const { offlineStatuses } = await import("../../operations/records/offline-status.js");
  const { withCalled } = await import("../../operations/endpoints/called.js");
  const judge = new ListJudge(await withCalled(filter, reader, () => now), reader);
  const pages = offlineStatuses(reader, now, (error) => unusable.push(error.message));
  for await (const rows of pages) yield judge.wanted(rows);
}

/** A stretch of what comes, and how much there is of it. */
class Stretch {
  /** Rows that came, also those that are not shown; null: nobody went on counting. */
  seen = 0;
  isEnd = false;

  readonly #offset: number;
  readonly #count: number;
  readonly #countedOn: number;

  /** `countedOn`: rows to count on behind the last one that is shown. */
  constructor(offset: number, count: number, countedOn: number) {
    this.#offset = offset;
    this.#count = count;
    this.#countedOn = countedOn;
  }

  get isPart(): boolean {
    return this.#offset > 0 || !this.isEnd || this.seen > this.#count;
  }

  async *of<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<readonly T[]> {
    const until = this.#offset + this.#count;
    for await (const rows of pages) {
      const from = this.seen;
      this.seen += rows.length;
      if (from < until) yield rows.slice(Math.max(0, this.#offset - from), until - from);
      if (this.seen > until + this.#countedOn || (this.#countedOn === 0 && this.seen >= until)) return;
    }
    this.isEnd = true;
  }

  /** Where it is not all there is. */
  text(all: number | null): string {
    if (!this.isPart) return "";
    const last = Math.min(this.seen, this.#offset + this.#count);
    return partText(this.#offset, last, all ?? (this.isEnd ? this.seen : `more than ${this.seen}`));
  }
}

function partText(offset: number, last: number, all: number | string): string {
  return `${last > offset ? `${offset + 1}-${last}` : "none"} of ${all} jobs\n`;
}

/** Without a filter the daemon knows how many there are, without looking at them. */
function isEverything({ identities, standings, tags, ...rest }: ListFilter): boolean {
  return identities.length + standings.length + tags.length + Object.keys(rest).length === 0;
}

async function* chunksOf(rows: readonly JobStatus[]): AsyncGenerator<readonly JobStatus[]> {
  for (let from = 0; from < rows.length; from += CHUNK) yield rows.slice(from, from + CHUNK);
}

function sortOf(args: ParsedArgs): Sort {
  const sort = SORTS.find((known) => known === (args.text("sort") ?? "name"));
  if (sort === undefined) throw usageError(`--sort: it is one of ${SORTS.join(", ")}`);
  return sort;
}

class Listing {
  readonly #args: ParsedArgs;
  readonly #io: CliIo;
  readonly #table: FittedTable<JobStatus>;
  readonly #offset: number;
  readonly #count: number;
  readonly #sort: Sort;
  readonly #isReversed: boolean;

  constructor(args: ParsedArgs, io: CliIo, table: FittedTable<JobStatus>) {
    this.#args = args;
    this.#io = io;
    this.#table = table;
    this.#offset = countArg(args, "offset", 0, MOST, 0);
    this.#count = countArg(args, "count", MOST, MOST);
    this.#sort = sortOf(args);
    this.#isReversed = args.has("reverse");
  }

  /** What a daemon can cut out by itself; null: all of it has to be seen first, or all of it is wanted. */
  wish(filter: ListFilter): Wish | null {
    const [offset, count, isReversed] = [this.#offset, this.#count, this.#isReversed];
    const sort = INDEX_SORTS.find((known) => known === this.#sort);
    if (sort === undefined || filter.tags.length > 0) return null;
    const isByName = sort === "name" && !isReversed;
    const isPart = isByName ? offset > 0 || count < MOST : count <= OPERATION_LIMITS.listRows;
    return isPart ? { filter, sort, isReversed, offset, count } : null;
  }

  async printFound({ total, pages }: Found): Promise<void> {
    const [args, io, offset] = [this.#args, this.#io, this.#offset];
    await printPages(pages, this.#table, args, io, publishedRow);
    const last = Math.min(total, offset + this.#count);
    if (outputForm(args) === "text" && (offset > 0 || last < total)) await io.out(partText(offset, last, total));
  }

  /** `all` asks how many jobs there are; null: that has to be counted. */
  async print(pages: AsyncIterable<readonly JobStatus[]>, all: (() => Promise<number>) | null): Promise<void> {
    const [args, io, offset, count, sort] = [this.#args, this.#io, this.#offset, this.#count, this.#sort];
    const isText = outputForm(args) === "text";
    if (sort !== "name" || this.#isReversed) {
      const { rows, total } = await inOrder(pages, sort, offset + count, this.#isReversed);
      const stretch = new Stretch(offset, count, 0);
      await printPages(stretch.of(chunksOf(rows)), this.#table, args, io, publishedRow);
      if (isText) await io.out(stretch.text(total));
      return;
    }
    const stretch = new Stretch(offset, count, isText && all === null ? COUNTED_ON : 0);
    await printPages(stretch.of(pages), this.#table, args, io, publishedRow);
    const isPart = isText && stretch.isPart && (offset > 0 || args.text("count") !== undefined);
    if (isPart) await io.out(stretch.text(all === null ? null : await all()));
  }
}

export async function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const now = io.now();
  const filter = filterOf(args, now);
  // Zones take their time to load: only for those who ask.
  const zone = args.has("local") ? (await import("../moments.js")).viewerZone(args, io) : null;
  const table = new FittedTable(listColumns(now, zone, sortOf(args)), io.outColumns ?? null, paintFor(args, io));
  outputForm(args);
  const listing = new Listing(args, io, table);
  const unusable: string[] = [];
  const absent = new Set<string>();
  const onAbsent = (nodes: readonly string[]): void => {
    for (const node of nodes) absent.add(node);
  };
  await withDaemonOrStore(
    args,
    io,
    async (client) => {
      const wish = listing.wish(filter);
      const found = wish === null ? null : await foundBy(client, wish, onAbsent);
      if (found !== null) return listing.printFound(found);
      const all = async () => ((await client.ask({ op: "status" })) as DaemonStatus).jobs;
      return listing.print(livePages(client, filter, onAbsent), isEverything(filter) ? all : null);
    },
    async (reader) => {
      if (outputForm(args) === "text") await io.out("No daemon runs: this is what the last one left behind.\n");
      await listing.print(storedPages(reader, filter, now, unusable), null);
    },
  );
  const missing = [...absent].map((node) => `the node ${node} does not answer: its jobs are not among these`);
  const troubles = [...unusable, ...missing];
  if (troubles.length === 0) return EXIT.ok;
  await io.err(troubles.map((message) => `kron: ${message}\n`).join(""));
  return unusable.length === 0 ? EXIT.fatal : EXIT.state;
}
