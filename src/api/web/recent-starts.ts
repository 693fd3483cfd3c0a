/**
 * Starts of the last minute and how late they were, second by second: what is kept is as much with a thousand starts a second
 * as with none. Lateness is counted by classes, each a tenth wider than the one before: what is told is at most that much more
 * than what was.
 */
import { SECOND_MS } from "../../core/time/instant.js";

const SECONDS = 60;
/** Up to a millisecond, and on from there: the last one begins at 82 s. */
const CLASSES = 120;
const WIDER = 1.1;
const NEARLY_ALL = 0.99;

interface StartsRead {
  readonly started: number;
  /** What 99 of 100 did not exceed; null: of none is known when it was due. */
  readonly latenessMs: number | null;
}

export class RecentStarts {
  /** Which second is counted at its place. */
  readonly #seconds = new Array<number>(SECONDS).fill(Number.NEGATIVE_INFINITY);
  readonly #started = new Uint32Array(SECONDS);
  readonly #late = new Uint32Array(SECONDS * CLASSES);

  /** `lateMs`: null where nobody knows when it was due. */
  note(at: number, lateMs: number | null): void {
    const second = Math.floor(at / SECOND_MS);
    const place = placeOf(second);
    if (this.#seconds[place] !== second) this.#begin(place, second);
    this.#started[place] = (this.#started[place] ?? 0) + 1;
    if (lateMs === null) return;
    const index = place * CLASSES + classOf(lateMs);
    this.#late[index] = (this.#late[index] ?? 0) + 1;
  }

  read(now: number): StartsRead {
    const current = Math.floor(now / SECOND_MS);
    const late = new Uint32Array(CLASSES);
    let started = 0;
    for (const [place, second] of this.#seconds.entries()) {
      // What is newer was counted before the clock was set back.
      if (second <= current - SECONDS || second > current) continue;
      started += this.#started[place] ?? 0;
      for (let each = 0; each < CLASSES; each += 1) late[each] = (late[each] ?? 0) + this.#lateAt(place, each);
    }
    return { started, latenessMs: nearlyAllOf(late) };
  }

  #lateAt(place: number, each: number): number {
    return this.#late[place * CLASSES + each] ?? 0;
  }

  #begin(place: number, second: number): void {
    this.#seconds[place] = second;
    this.#started[place] = 0;
    this.#late.fill(0, place * CLASSES, (place + 1) * CLASSES);
  }
}

function placeOf(second: number): number {
  return ((second % SECONDS) + SECONDS) % SECONDS;
}

function classOf(lateMs: number): number {
  return lateMs <= 1 ? 0 : Math.min(CLASSES - 1, Math.ceil(Math.log(lateMs) / Math.log(WIDER)));
}

function nearlyAllOf(late: Uint32Array): number | null {
  const enough = Math.ceil(late.reduce((sum, count) => sum + count, 0) * NEARLY_ALL);
  if (enough === 0) return null;
  let seen = 0;
  for (const [each, count] of late.entries()) {
    seen += count;
    if (seen >= enough) return Math.round(WIDER ** each);
  }
  return null;
}
