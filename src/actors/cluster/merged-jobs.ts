/**
 * Jobs of several supervisors, or of several nodes, as one list: each tells its own in order, a stretch at a time, and the
 * stretches are merged. No more is asked of anybody than one page is likely to need.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import { compareNames } from "../../core/base/identity.js";
import type { JobPage, JobQuery, JobStatus } from "../supervisor/port.js";
import { type Compare, comparisonOf } from "../supervisor/rows/job-order.js";

export interface JobSource {
  /** As people are told, should it not answer. */
  readonly name: string;
  find(query: JobQuery): Promise<JobPage>;
}

/** How far a page goes: in the order of names, or as many of each source. */
type From = JobQuery["from"];

/** Rows asked of each source beyond its share: shares are never even. */
const SPARE = 1.5;
const LEAST_ROWS = 8;
const MOST_ROWS = 500;
/** Stretches asked of one source for one page: jobs with a tag may be far apart, and whoever asks goes on behind `next`. */
const MOST_STRETCHES = 64;

/** What one source has told and was not taken yet. */
class Stream {
  #rows: readonly JobStatus[] = [];
  #taken = 0;
  #stretches = 0;
  /** From where it goes on; null: there is nothing more. */
  #from: From | null;
  total: number | null = null;

  constructor(
    readonly source: JobSource,
    from: From,
  ) {
    this.#from = from;
  }

  get head(): JobStatus | null {
    return this.#rows[this.#taken] ?? null;
  }

  get isEnded(): boolean {
    return this.#from === null && this.head === null;
  }

  get isExhausted(): boolean {
    return this.#stretches >= MOST_STRETCHES;
  }

  /** All up to this name was told; null: nothing yet. */
  get through(): string | null {
    return this.#from !== null && "after" in this.#from ? this.#from.after : null;
  }

  take(): void {
    this.#taken += 1;
  }

  /** Until it has a row, or there is none. */
  async fill(query: Omit<JobQuery, "from">): Promise<void> {
    while (this.head === null && this.#from !== null && !this.isExhausted) {
      this.#stretches += 1;
      const from: From = this.#from;
      const { rows, total, next } = await this.source.find({ ...query, from });
      [this.#rows, this.#taken] = [rows, 0];
      this.total = total;
      if ("after" in from) {
        this.#from = next === null ? null : { after: next };
      } else {
        const end = from.offset + query.limit;
        this.#from = end >= (total ?? 0) ? null : { offset: end };
      }
    }
  }
}

/** A page of all of them. Sources that do not answer are named in it. */
export async function findIn(sources: readonly JobSource[], { from, limit, ...asked }: JobQuery): Promise<JobPage> {
  const compare = comparisonOf(asked.order);
  const skipped = "offset" in from ? from.offset : 0;
  const wanted = skipped + limit;
  const share = Math.ceil((wanted / Math.max(1, sources.length)) * SPARE);
  const query = { ...asked, limit: sources.length === 1 ? limit : Math.min(MOST_ROWS, LEAST_ROWS + share, wanted) };
  const begun = sources.map((source) => new Stream(source, "offset" in from ? { offset: 0 } : from));
  const { streams, absent } = await begunOf(begun, query);
  const rows: JobStatus[] = [];
  for (let seen = 0; seen < wanted; seen++) {
    const first = firstOf(streams, compare);
    // What one of them has not told yet may come before it.
    if (first === null || streams.some((stream) => stream.head === null && !stream.isEnded)) break;
    if (first.head !== null && seen >= skipped) rows.push(first.head);
    first.take();
    if (first.head === null) await first.fill(query);
  }
  const total = streams.reduce<number | null>(
    (sum, it) => (sum === null || it.total === null ? null : sum + it.total),
    0,
  );
  const next = "offset" in from ? null : nextOf(streams, rows, from.after);
  return { rows, total, next, ...(absent.length === 0 ? {} : { absent }) };
}

async function begunOf(begun: readonly Stream[], query: Omit<JobQuery, "from">) {
  const absent: string[] = [];
  const filled = await Promise.all(
    begun.map((stream) =>
      stream.fill(query).then(
        () => [stream],
        (error: unknown) => {
          if (!(error instanceof KronError) || error.code !== "node-silent") throw error;
          absent.push(stream.source.name);
          return [];
        },
      ),
    ),
  );
  return { streams: filled.flat(), absent: absent.sort() };
}

function firstOf(streams: readonly Stream[], compare: Compare): Stream | null {
  let first: Stream | null = null;
  for (const stream of streams) {
    if (stream.head === null) continue;
    if (first?.head == null || compare(stream.head, first.head) < 0) first = stream;
  }
  return first;
}

/** Behind what was shown; where one of them has looked at many jobs in vain, no further than it has looked. */
function nextOf(streams: readonly Stream[], rows: readonly JobStatus[], after: string | null): string | null {
  if (streams.every((stream) => stream.isEnded)) return null;
  const shown = rows.at(-1)?.identity ?? after;
  const stuck = streams.filter((stream) => stream.head === null && !stream.isEnded);
  if (stuck.length === 0) return shown;
  const looked = stuck.flatMap(({ through }) => through ?? []).sort(compareNames);
  const [least = null] = looked;
  return least !== null && (shown === null || compareNames(least, shown) > 0) ? least : shown;
}
