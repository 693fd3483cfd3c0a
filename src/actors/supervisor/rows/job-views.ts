/**
 * Which jobs a list shows, in its order: all of them, so that any page can be cut out and there is a total. Made from the
 * index in turns of the loop; a job is read only where its numbers do not say enough. The last few are kept for as long as
 * nothing has changed, which is what paging through a quiet daemon finds.
 */
import type { EpochMs } from "../../../core/time/instant.js";
import type { TimelineHandle } from "../../timeline.js";
import { sortByKeys, sortInTurns, turnOfLoop } from "../../turns.js";
import type { JobStatus } from "../port.js";
import { type IsWanted, wantedBy } from "./job-filter.js";
import type { ListFilter, ListOrder } from "./job-query.js";
import { JobQuestion } from "./job-question.js";
import type { JobRows } from "./job-rows.js";
import type { Listing } from "./listing.js";

/** Looked at before everything else has its turn. */
const SCANNED_PER_TURN = 16_384;
/** Of a job that is read, in jobs that are only looked at. */
const READ_COST = 256;
/** So many names are sorted by themselves; of more, all names are, and stay so for the next list. */
const FEW = 8_192;
const KEPT = 8;

export type View = Uint32Array;

interface ViewSource {
  readonly rows: JobRows;
  readonly listing: Listing;
  /** The index is told what comes of it. */
  readonly read: (handle: TimelineHandle, identity: string) => Promise<JobStatus>;
  readonly isTagged: (identity: string, tags: readonly string[]) => Promise<boolean>;
}

interface KeptView {
  readonly key: string;
  readonly revision: number;
  readonly namesRevision: number;
  readonly madeAt: EpochMs;
  readonly untilAt: EpochMs;
  readonly view: View;
}

export class JobViews {
  readonly #source: ViewSource;
  /** The newest last. */
  #kept: readonly KeptView[] = [];
  readonly #lists = new WeakMap<readonly string[], number>();
  #newest = 0;

  constructor(source: ViewSource) {
    this.#source = source;
  }

  /** Handles of jobs that may have gone since: whoever takes one looks whether it is still there. */
  async of(filter: ListFilter, order: ListOrder, now: EpochMs): Promise<View> {
    const { rows } = this.#source;
    const key = JSON.stringify([{ ...filter, called: this.#numberOf(filter.called) }, order]);
    const known = this.#kept.find((it) => it.key === key && this.#isTrue(it, now));
    if (known !== undefined) return known.view;
    const [revision, namesRevision] = [rows.index.revision, rows.names.revision];
    const scan = new Scan(this.#source, filter, order, now);
    const view = await scan.view();
    const made = { key, revision, namesRevision, madeAt: now, untilAt: scan.untilAt, view };
    this.#kept = [...this.#kept.filter((it) => it.key !== key && this.#isTrue(it, now)), made].slice(-KEPT);
    return view;
  }

  /** Of one list of names, which may be a long one: the same as long as it is the same list. */
  #numberOf(called: ListFilter["called"]): number {
    if (called === undefined) return 0;
    const known = this.#lists.get(called) ?? ++this.#newest;
    this.#lists.set(called, known);
    return known;
  }

  #isTrue({ revision, namesRevision, madeAt, untilAt }: KeptView, now: EpochMs): boolean {
    const { index, names } = this.#source.rows;
    return revision === index.revision && namesRevision === names.revision && madeAt <= now && now < untilAt;
  }
}

/** One view in the making. */
class Scan {
  readonly #source: ViewSource;
  readonly #filter: ListFilter;
  readonly #order: ListOrder;
  readonly #question: JobQuestion;
  readonly #isWanted: IsWanted;
  /** Jobs that have to be read before they can be judged. */
  readonly #unsure = new Set<TimelineHandle>();
  /** What may still be done in this turn of the loop. */
  #left = SCANNED_PER_TURN;

  constructor(source: ViewSource, filter: ListFilter, order: ListOrder, now: EpochMs) {
    this.#source = source;
    this.#filter = filter;
    this.#order = order;
    this.#question = new JobQuestion(source.rows, filter, order, now);
    this.#isWanted = wantedBy(filter);
  }

  get untilAt(): EpochMs {
    return this.#question.untilAt;
  }

  async view(): Promise<View> {
    const { listing } = this.#source;
    const wanted = isEverything(this.#filter) ? await listing.sorted() : await this.#wanted(await this.#named());
    const { sort, isReversed } = this.#order;
    if (sort === "name") return isReversed ? wanted.slice().reverse() : wanted;
    return sortByKeys(wanted, await this.#keysOf(wanted));
  }

  /** Those that are wanted, or may be, in the order of their names. */
  async #named(): Promise<Uint32Array<ArrayBuffer>> {
    const { listing, rows } = this.#source;
    const { fresh } = listing;
    const found = await this.#scan(fresh);
    if (fresh !== null) return found;
    if (found.length <= FEW) return sortInTurns(found, (one, other) => rows.names.compare(one, other));
    return this.#scan(await listing.sorted());
  }

  async #scan(handles: Uint32Array | null): Promise<Uint32Array<ArrayBuffer>> {
    const end = handles === null ? this.#source.rows.names.handleEnd : handles.length;
    const found = new Uint32Array(end);
    let count = 0;
    for (let from = 0; from < end; from += SCANNED_PER_TURN) {
      const until = Math.min(end, from + SCANNED_PER_TURN);
      count = this.#scanStretch(handles, { from, until }, found, count);
      if (until < end) await turnOfLoop();
    }
    return found.slice(0, count);
  }

  #scanStretch(
    handles: Uint32Array | null,
    { from, until }: { readonly from: number; readonly until: number },
    found: Uint32Array,
    already: number,
  ): number {
    const { names } = this.#source.rows;
    let count = already;
    for (let at = from; at < until; at++) {
      const handle = handles === null ? at : (handles[at] as number);
      const verdict = names.has(handle) ? this.#question.of(handle) : "no";
      if (verdict !== "no") found[count++] = handle;
      if (verdict === "unsure") this.#unsure.add(handle);
    }
    return count;
  }

  /** Jobs that must be read are rare, and what is found out of them is kept. */
  async #wanted(named: Uint32Array<ArrayBuffer>): Promise<Uint32Array<ArrayBuffer>> {
    const { tags } = this.#filter;
    if (tags.length === 0 && this.#unsure.size === 0) return named;
    let count = 0;
    for (const handle of named) {
      const mustRead = tags.length > 0 || this.#unsure.has(handle);
      if (!mustRead || (await this.#isAsAsked(handle))) named[count++] = handle;
      if (this.#isTurnOver(mustRead ? READ_COST : 1)) await turnOfLoop();
    }
    return named.slice(0, count);
  }

  async #isAsAsked(handle: TimelineHandle): Promise<boolean> {
    const { isTagged, read, rows } = this.#source;
    const { tags } = this.#filter;
    if (!rows.names.has(handle)) return false;
    const identity = rows.names.identityOf(handle);
    if (this.#unsure.has(handle) && !this.#isWanted(await read(handle, identity))) return false;
    return tags.length === 0 || isTagged(identity, tags);
  }

  async #keysOf(handles: Uint32Array): Promise<Uint32Array<ArrayBuffer>> {
    const { rows, read } = this.#source;
    const keys = new Uint32Array(handles.length);
    const unknown: number[] = [];
    for (let from = 0; from < handles.length; from += SCANNED_PER_TURN) {
      this.#keysOfStretch(handles, from, keys, unknown);
      if (from + SCANNED_PER_TURN < handles.length) await turnOfLoop();
    }
    for (const at of unknown) {
      const handle = handles[at] as number;
      if (!rows.names.has(handle)) continue;
      keys[at] = this.#question.keyOfRow(await read(handle, rows.names.identityOf(handle)));
      if (this.#isTurnOver(READ_COST)) await turnOfLoop();
    }
    return keys;
  }

  #keysOfStretch(handles: Uint32Array, from: number, keys: Uint32Array, unknown: number[]): void {
    const until = Math.min(handles.length, from + SCANNED_PER_TURN);
    for (let at = from; at < until; at++) {
      const key = this.#question.keyOf(handles[at] as number);
      if (key === null) unknown.push(at);
      else keys[at] = key;
    }
  }

  #isTurnOver(cost: number): boolean {
    this.#left -= cost;
    if (this.#left > 0) return false;
    this.#left = SCANNED_PER_TURN;
    return true;
  }
}

function isEverything(filter: ListFilter): boolean {
  const { identities, standings, tags, search, isFailing, isRunning, outcomes = [], dueBy } = filter;
  const isAny = identities.length + standings.length + tags.length + outcomes.length > 0;
  return !isAny && !search && !isFailing && !isRunning && dueBy === undefined;
}
