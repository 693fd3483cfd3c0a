/**
 * Of every job two instants in eight bytes: when the clock next changes something of it, and the second in which a list shows
 * it next. For nearly every job they are the same. One that nothing wakes has only the second, which takes the place of the
 * other; where both are told apart (what runs until its timeout, what is paused until before it is due) the second is kept
 * beside, in some thirty bytes more for as long as that lasts.
 */
import { secondAt } from "../../../core/base/coarse.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { TimelineHandle } from "../../timeline.js";
import { copied } from "../../typed-arrays.js";

/**
 * In the column: NaN for nothing at all; an instant that is both; less than nothing a second in which nothing wakes it; and
 * from here downwards an instant whose second is kept beside.
 */
const APART = -(2 ** 33);
/** Of a number by a number in a map, as measured. */
const APART_BYTES = 28;

export class WakeTimes {
  #column: Float64Array;
  readonly #apart = new Map<TimelineHandle, number>();

  constructor(capacity: number) {
    this.#column = new Float64Array(capacity).fill(Number.NaN);
  }

  get byteLength(): number {
    return this.#column.byteLength + this.#apart.size * APART_BYTES;
  }

  wakeAt(handle: TimelineHandle): EpochMs | null {
    return wakeAtOf(this.#column[handle] as number);
  }

  /** In which second it is shown stays as it is. */
  setWakeAt(handle: TimelineHandle, at: EpochMs | null): void {
    this.#put(handle, at, this.secondOf(handle));
  }

  /** As in a `PackedGlance`. */
  secondOf(handle: TimelineHandle): number {
    const value = this.#column[handle] as number;
    if (value >= 0) return secondAt(value);
    if (value <= APART) return this.#apart.get(handle) as number;
    return value < 0 ? -value : 0;
  }

  setSecond(handle: TimelineHandle, second: number): void {
    this.#put(handle, this.wakeAt(handle), second);
  }

  clear(handle: TimelineHandle): void {
    this.#put(handle, null, 0);
  }

  /** The earliest of those before `end`; null when nobody waits for anything. */
  firstWakeAt(end: TimelineHandle): EpochMs | null {
    let first = Number.POSITIVE_INFINITY;
    // A plain loop over all of them takes milliseconds for a million.
    for (let handle = 0; handle < end; handle++) {
      const value = this.#column[handle] as number;
      const at = value <= APART ? APART - value : value;
      if (at >= 0 && at < first) first = at;
    }
    return first === Number.POSITIVE_INFINITY ? null : first;
  }

  growTo(capacity: number): void {
    this.#column = copied(this.#column, new Float64Array(capacity).fill(Number.NaN));
  }

  #put(handle: TimelineHandle, at: EpochMs | null, second: number): void {
    // What was to be before 1970 is as late as what was to be then.
    const wakeAt = at === null || Number.isNaN(at) ? null : Math.max(0, at);
    const isApart = wakeAt !== null && secondAt(wakeAt) !== second;
    if (isApart) this.#apart.set(handle, second);
    else if (this.#apart.size > 0) this.#apart.delete(handle);
    this.#column[handle] = isApart ? APART - wakeAt : (wakeAt ?? (second === 0 ? Number.NaN : -second));
  }
}

function wakeAtOf(value: number): EpochMs | null {
  if (value >= 0) return value;
  return value <= APART ? APART - value : null;
}
