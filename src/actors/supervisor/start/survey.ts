/**
 * What a start finds on record, taken in page by page: jobs that can rest on go into their rows, everything else is put
 * on a list of what is to be done about it. Nothing is changed in the store here: a refused start leaves it as it was.
 */
import { isEndpoint } from "../../../core/base/identity.js";
import type { ContentHash } from "../../../core/job/content-hash.js";
import type { PackedGlance } from "../../../core/restart/glance.js";
import { STANDINGS, type Standing } from "../../../core/restart/resting.js";
import type { EpochMs } from "../../../core/time/instant.js";
import { documentKey } from "../../../persist/keys.js";
import type { PlannedPage, PlannedProblem } from "../../pool/types.js";
import type { TimelineHandle } from "../../timeline.js";
import { sortInTurns, turnOfLoop } from "../../turns.js";
import type { JobRows } from "../rows/job-rows.js";
import type { WantedJobs } from "./wanted-jobs.js";

/** Taken in before everything else has its turn. */
export const ROWS_PER_TURN = 512;

/** A document that cannot be used, and whose it is, as far as anybody knows. */
export interface Unusable extends PlannedProblem {
  readonly identity: string | null;
}

/** Who is wanted: those of a configuration, or all whose definition is in force on record. */
export type Wanted = WantedJobs | "as-stored";

export class Survey {
  /** Identities with runs that nobody was seen to end. */
  readonly running: string[] = [];
  /** Jobs that are not wanted any more, and have not been told so. */
  readonly missing: string[] = [];
  /** Wanted jobs that must be told something. */
  readonly toTell: TimelineHandle[] = [];
  readonly unusable: Unusable[] = [];
  /** Identities of definitions that cannot be read. */
  readonly unreadable: string[] = [];
  readonly #seen: Uint8Array;
  #resting = 0;
  readonly #rows: JobRows;
  readonly #wanted: Wanted;
  readonly #onResting: (handle: TimelineHandle) => void;

  constructor(
    rows: JobRows,
    wanted: Wanted,
    /** Told of each job that goes on resting. */
    onResting: (handle: TimelineHandle) => void,
  ) {
    this.#rows = rows;
    this.#wanted = wanted;
    this.#onResting = onResting;
    this.#seen = new Uint8Array(wanted === "as-stored" ? 0 : wanted.size);
  }

  /** Jobs that go on resting, and of which nothing was read by the start itself. */
  get restingCount(): number {
    return this.#resting;
  }

  /** Of a configuration; where what is on record is wanted, nobody counts. */
  get wantedCount(): number {
    return this.#wanted === "as-stored" ? 0 : this.#wanted.size;
  }

  async take(page: PlannedPage): Promise<void> {
    const problems = new Map(page.problems.map((problem) => [problem.index, problem]));
    let from = 0;
    for (let index = 0; index < page.count; index++) {
      const end = page.identityEnds[index] as number;
      this.#takeRow(page, index, from, end, problems.get(index));
      from = end;
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turnOfLoop();
    }
  }

  /** A document of this job was put in place of one that could not be used. */
  tell(identity: string): void {
    const handle = this.#rows.add(identity);
    if (this.#wanted !== "as-stored" && !isEndpoint(identity)) {
      const index = this.#wanted.indexOf(identity);
      this.#seen[index] = 1;
      this.#rows.setContent(handle, this.#wanted.contentHashAt(index));
    }
    this.toTell.push(handle);
  }

  /** Wanted jobs that were on no page so far. */
  async unseen(): Promise<readonly string[]> {
    if (this.#wanted === "as-stored") return [];
    const unseen: string[] = [];
    for (let index = 0; index < this.#wanted.size; index++) {
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turnOfLoop();
      if (this.#seen[index] !== 1) unseen.push(this.#wanted.identityAt(index));
    }
    return unseen;
  }

  /** When every page was taken: wanted jobs of which nothing is on record, in the order of their keys in the store. */
  async newcomers(): Promise<Uint32Array> {
    const wanted = this.#wanted;
    const rows = this.#rows;
    if (wanted === "as-stored") return new Uint32Array(0);
    const handles = new Uint32Array(wanted.size);
    const keys = new Float64Array(rows.names.handleEnd + wanted.size);
    let count = 0;
    for (let index = 0; index < wanted.size; index++) {
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turnOfLoop();
      if (this.#seen[index] === 1) continue;
      const identity = wanted.identityAt(index);
      const handle = rows.add(identity);
      rows.setContent(handle, wanted.contentHashAt(index));
      handles[count++] = handle;
      keys[handle] = keyOrder(identity);
    }
    // Written in their order, neighbours share a page of the store; in any other, each one is a page of its own.
    const order = (one: number, other: number): number => (keys[one] as number) - (keys[other] as number);
    return sortInTurns(handles.slice(0, count), order);
  }

  #takeRow(page: PlannedPage, index: number, from: number, end: number, problem?: PlannedProblem): void {
    const standing = standingAt(page, index);
    if (standing === "CORRUPT") {
      if (problem === undefined) throw new Error("invariant broken: an unusable document without its problem");
      this.unusable.push({ ...problem, identity: from === end ? null : identityAt(page, from, end) });
      return;
    }
    const isQuiet = standing === "QUIET";
    if (this.#wanted === "as-stored" && isQuiet) {
      this.#rest(this.#rows.addBytes(page.identityBytes, from, end), page, index);
      return;
    }
    const identity = identityAt(page, from, end);
    if (standing === "RUNNING") this.running.push(identity);
    if (standing === "UNREADABLE_DEFINITION") this.unreadable.push(identity);
    const content = this.#wantedContent(identity, page, index, standing);
    if (content === null) {
      if (standing !== "GONE") this.missing.push(identity);
      return;
    }
    const handle = this.#rows.add(identity);
    this.#rows.setContent(handle, content);
    if (isQuiet && isSame(content, contentAt(page, index))) this.#rest(handle, page, index);
    else this.toTell.push(handle);
  }

  #rest(handle: TimelineHandle, page: PlannedPage, index: number): void {
    this.#rows.setContent(handle, contentAt(page, index));
    this.#rows.setLiveAt(handle, instantAt(page.liveAt, index));
    this.#rows.index.set(handle, glanceAt(page, index));
    this.#rows.setWakeAt(handle, instantAt(page.wakeAt, index));
    this.#resting += 1;
    this.#onResting(handle);
  }

  /** The content of the definition that is wanted; null: none is. */
  #wantedContent(identity: string, page: PlannedPage, index: number, standing: Standing): ContentHash | null {
    if (this.#wanted === "as-stored" || isEndpoint(identity)) {
      const content = contentAt(page, index);
      const isDefined = content.high !== 0 || content.low !== 0;
      return isDefined && standing !== "GONE" && standing !== "MISSING" ? content : null;
    }
    const at = this.#wanted.indexOf(identity);
    if (at < 0) return null;
    this.#seen[at] = 1;
    return this.#wanted.contentHashAt(at);
  }
}

/** As many of the key's first digits as a number holds exactly. */
function keyOrder(identity: string): number {
  return Number.parseInt(documentKey(identity).slice(0, 12), 16);
}

export function standingAt({ standing }: PlannedPage, index: number): Standing {
  const name = STANDINGS[standing[index] as number];
  if (name === undefined) throw new Error(`invariant broken: no standing ${standing[index]}`);
  return name;
}

export function identityAt({ identityBytes }: PlannedPage, from: number, end: number): string {
  return Buffer.from(identityBytes.buffer, identityBytes.byteOffset + from, end - from).toString();
}

export function contentAt({ contentHash }: PlannedPage, index: number): ContentHash {
  return { high: contentHash[index * 2] as number, low: contentHash[index * 2 + 1] as number };
}

export function glanceAt({ glances }: PlannedPage, index: number): PackedGlance {
  const at = index * 3;
  return { second: glances[at] as number, marks: glances[at + 1] as number, lengths: glances[at + 2] as number };
}

function isSame(one: ContentHash, other: ContentHash): boolean {
  return one.high === other.high && one.low === other.low;
}

export function instantAt(times: Float64Array, index: number): EpochMs | null {
  const at = times[index] as number;
  return Number.isNaN(at) ? null : at;
}
