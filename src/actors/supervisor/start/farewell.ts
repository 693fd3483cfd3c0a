/**
 * What a daemon that ends in order tells the next one of its jobs (`StateStore.farewell`): the row of each that rests. As
 * long as nobody has touched the store they rest on, as they would have if it had gone on, and need not be looked at one by
 * one; those that are due by now are told as ever. Of jobs that were doing something, and of those that every start has to
 * look at, there is only the name: they are read.
 */
import { secondAt } from "../../../core/base/coarse.js";
import { ENGINE_VERSION } from "../../../core/base/version.js";
import { MARK } from "../../../core/restart/glance.js";
import { STANDINGS, type Standing } from "../../../core/restart/resting.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { PlannedPage } from "../../pool/types.js";
import type { TimelineHandle } from "../../timeline.js";
import { zoneDataVersion } from "../../zone-data.js";
import type { JobRows } from "../rows/job-rows.js";
import type { JobSet } from "../rows/job-set.js";

/** Of how it is laid out. */
const FORM = 1;
/** In front: how long the header is, which is filled up so that numbers of eight bytes can lie behind it. */
const LENGTH_BYTES = 8;
const ALIGNMENT = 8;
/** So many may be left to be read, and as many more as are a share of those at rest; beyond, everything may as well be. */
const UNSAID_AT_MOST = 10_000;
const UNSAID_SHARE = 1 / 8;

interface Header {
  readonly form: number;
  readonly engine: string;
  readonly zones: string;
  readonly at: EpochMs;
  readonly rows: number;
  readonly unsaid: readonly string[];
}

interface Left {
  /** In no order. */
  readonly page: PlannedPage;
  /** All other jobs that it had. */
  readonly unsaid: readonly string[];
}

const QUIET = STANDINGS.indexOf("QUIET" satisfies Standing);
const STEP = STANDINGS.indexOf("STEP" satisfies Standing);

/** null: there is too much of which nothing could be said. */
export function farewellOf(jobs: JobSet, at: EpochMs): Uint8Array | null {
  const { names } = jobs.rows;
  const [resting, unsaid]: [TimelineHandle[], TimelineHandle[]] = [[], []];
  let nameBytes = 0;
  for (const handle of jobs.rows.handles()) {
    const isSaid = jobs.awakeAt(handle) === null && !jobs.rows.asksStarts(handle);
    (isSaid ? resting : unsaid).push(handle);
    if (isSaid) nameBytes += names.byteLengthOf(handle);
  }
  const rows = resting.length;
  if (unsaid.length > UNSAID_AT_MOST + rows * UNSAID_SHARE) return null;
  const known = { form: FORM, engine: ENGINE_VERSION, zones: zoneDataVersion() };
  const header = paddedHeader({ ...known, at, rows, unsaid: unsaid.map((handle) => names.identityOf(handle)) });
  const words = new Uint8Array(LENGTH_BYTES + header.length + ROW_BYTES * rows + nameBytes);
  new DataView(words.buffer).setUint32(0, header.length);
  words.set(header, LENGTH_BYTES);
  const page = pageIn(words, LENGTH_BYTES + header.length, rows);
  let end = 0;
  for (let index = 0; index < rows; index++)
    end = copyRow(jobs.rows, resting[index] as TimelineHandle, page, index, end);
  return words;
}

/** null: it is of another version, or for another time. `words` begin where a number of eight bytes may. */
export function readFarewell(words: Uint8Array, now: EpochMs): Left | null {
  try {
    return leftIn(words, now);
  } catch {
    // Whatever is wrong with it, all there is to know is on record.
    return null;
  }
}

function leftIn(words: Uint8Array, now: EpochMs): Left | null {
  const headerLength = new DataView(words.buffer, words.byteOffset).getUint32(0);
  const text = Buffer.from(words.buffer, words.byteOffset + LENGTH_BYTES, headerLength).toString();
  const { form, engine, zones, at, rows, unsaid } = JSON.parse(text) as Header;
  // S6: after the clock went back, every job looks at where it is.
  if (form !== FORM || engine !== ENGINE_VERSION || zones !== zoneDataVersion() || now < at) return null;
  const page = pageIn(words, LENGTH_BYTES + headerLength, rows);
  for (let index = 0; index < rows; index++) {
    const isDue = (page.wakeAt[index] as number) <= now;
    if (isDue || isPauseOver(page, index, now)) page.standing[index] = STEP;
  }
  return { page, unsaid };
}

/** S17: what a daemon that goes on notes when the job is due next, a start puts on record at once. */
function isPauseOver({ glances }: PlannedPage, index: number, now: EpochMs): boolean {
  const [second, marks] = [glances[3 * index] as number, glances[3 * index + 1] as number];
  return (marks & MARK.paused) !== 0 && second <= secondAt(now);
}

function paddedHeader(header: Header): Uint8Array {
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.alloc(Math.ceil(text.length / ALIGNMENT) * ALIGNMENT, " ");
  text.copy(padded);
  return padded;
}

const ROW_BYTES = 40;

/** The columns of so many rows, the widest numbers first, behind `offset`, and the names behind them. */
function pageIn({ buffer, byteOffset, byteLength }: Uint8Array, offset: number, rows: number): PlannedPage {
  const at = byteOffset + offset;
  const names = at + ROW_BYTES * rows;
  return {
    count: rows,
    wakeAt: new Float64Array(buffer, at, rows),
    liveAt: new Float64Array(buffer, at + 8 * rows, rows),
    contentHash: new Uint32Array(buffer, at + 16 * rows, 2 * rows),
    glances: new Uint32Array(buffer, at + 24 * rows, 3 * rows),
    identityEnds: new Uint32Array(buffer, at + 36 * rows, rows),
    // As they were left. What is due by now is found when it is read.
    standing: new Uint8Array(rows).fill(QUIET),
    identityBytes: new Uint8Array(buffer, names, byteOffset + byteLength - names),
    problems: [],
  };
}

/** Where its name ends among the others. */
function copyRow(rows: JobRows, handle: TimelineHandle, page: PlannedPage, index: number, from: number): number {
  const { high, low } = rows.contentOf(handle);
  const { second, marks, lengths } = rows.index.glanceOf(handle);
  page.wakeAt[index] = rows.wakeAt(handle) ?? Number.NaN;
  page.liveAt[index] = rows.liveAt(handle) ?? Number.NaN;
  page.contentHash[2 * index] = high;
  page.contentHash[2 * index + 1] = low;
  page.glances[3 * index] = second;
  page.glances[3 * index + 1] = marks;
  page.glances[3 * index + 2] = lengths;
  const end = rows.names.copyTo(handle, page.identityBytes, from);
  page.identityEnds[index] = end;
  return end;
}
