/**
 * What a daemon that ends in order tells the next one of its jobs (`StateStore.farewell`): the row of each that rests. As
 * long as nobody has touched the store they rest on, as they would have if it had gone on, and need not be looked at one by
 * one; those that are due by now, or hear of every start, are told as ever. Of jobs that were doing something there is only
 * the name: they are read.
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
/** With more of them everything may as well be read. */
const MOST_IN_MOTION = 10_000;

interface Header {
  readonly form: number;
  readonly engine: string;
  readonly zones: string;
  readonly at: EpochMs;
  readonly rows: number;
  readonly inMotion: readonly string[];
}

interface Left {
  /** Of all jobs that rested, in no order. */
  readonly page: PlannedPage;
  /** The others, by name. */
  readonly inMotion: readonly string[];
}

const STANDING = {
  QUIET: STANDINGS.indexOf("QUIET" satisfies Standing),
  STEP: STANDINGS.indexOf("STEP" satisfies Standing),
} as const;

/** null: too much is going on to be told. */
export function farewellOf(jobs: JobSet, at: EpochMs): Uint8Array | null {
  const inMotion = Array.from(jobs.entries(), ({ identity }) => identity);
  if (inMotion.length > MOST_IN_MOTION) return null;
  const resting: TimelineHandle[] = [];
  let nameBytes = 0;
  for (const handle of jobs.rows.handles()) {
    if (jobs.awakeAt(handle) !== null) continue;
    resting.push(handle);
    nameBytes += jobs.rows.names.byteLengthOf(handle);
  }
  const rows = resting.length;
  const known = { form: FORM, engine: ENGINE_VERSION, zones: zoneDataVersion() };
  const header = paddedHeader({ ...known, at, rows, inMotion });
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
  const headerLength = new DataView(words.buffer, words.byteOffset).getUint32(0);
  const text = Buffer.from(words.buffer, words.byteOffset + LENGTH_BYTES, headerLength).toString();
  const { form, engine, zones, at, rows, inMotion } = JSON.parse(text) as Header;
  // S6: after the clock went back, every job looks at where it is.
  if (form !== FORM || engine !== ENGINE_VERSION || zones !== zoneDataVersion() || now < at) return null;
  const page = pageIn(words, LENGTH_BYTES + headerLength, rows);
  for (let index = 0; index < rows; index++) {
    const isDue = (page.wakeAt[index] as number) <= now;
    if (isDue || isPauseOver(page, index, now)) page.standing[index] = STANDING.STEP;
  }
  return { page, inMotion };
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

const ROW_BYTES = 41;

/** The columns of so many rows, behind `offset`, and the names behind them. */
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
    standing: new Uint8Array(buffer, at + 40 * rows, rows),
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
  page.standing[index] = rows.isToldAtStart(handle) ? STANDING.STEP : STANDING.QUIET;
  const end = rows.names.copyTo(handle, page.identityBytes, from);
  page.identityEnds[index] = end;
  return end;
}
