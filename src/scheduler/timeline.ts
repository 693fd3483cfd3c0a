/**
 * When to look at which task: an indexed binary heap over typed arrays, 16 bytes a task. It is an index and never a
 * truth: an entry says when the record is to be read, the record says whether anything is owed.
 */
import type { EpochMs } from "../core/time/instant.js";

const ABSENT = -1;

export class Timeline {
  /** Planned instant of every slot; meaningful where `#position` is not ABSENT. */
  readonly #at: Float64Array;
  readonly #position: Int32Array;
  readonly #heap: Int32Array;
  #size = 0;

  constructor(slots: number) {
    this.#at = new Float64Array(slots);
    this.#position = new Int32Array(slots).fill(ABSENT);
    this.#heap = new Int32Array(slots);
  }

  get size(): number {
    return this.#size;
  }

  /** The earliest planned instant; Infinity when nothing is planned. */
  earliestAt(): EpochMs {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#atOf(this.#slotAt(0));
  }

  /** Plans a slot anew. Infinity: never, the slot is taken out. */
  set(slot: number, at: EpochMs): void {
    if (at === Number.POSITIVE_INFINITY) {
      this.delete(slot);
      return;
    }
    this.#at[slot] = at;
    const position = this.#position[slot] as number;
    if (position === ABSENT) this.#moveUp(slot, this.#size++);
    else this.#moveDown(slot, this.#moveUp(slot, position));
  }

  delete(slot: number): void {
    const position = this.#position[slot] as number;
    if (position === ABSENT) return;
    this.#position[slot] = ABSENT;
    const last = this.#slotAt(--this.#size);
    if (last !== slot) this.#moveDown(last, this.#moveUp(last, position));
  }

  /** The planned instant of a slot; Infinity when it is not planned. */
  plannedAt(slot: number): EpochMs {
    return this.#position[slot] === ABSENT ? Number.POSITIVE_INFINITY : this.#atOf(slot);
  }

  /** The slots planned at or before `now`, in the order of the list, so that equal inputs start in equal order. They stay planned. */
  due(now: EpochMs): Int32Array {
    const due: number[] = [];
    const visit = [0];
    for (let position = visit.pop(); position !== undefined; position = visit.pop()) {
      if (position >= this.#size) continue;
      const slot = this.#slotAt(position);
      if (this.#atOf(slot) > now) continue;
      due.push(slot);
      visit.push(2 * position + 2, 2 * position + 1);
    }
    return Int32Array.from(due).sort();
  }

  #slotAt(position: number): number {
    return this.#heap[position] as number;
  }

  #atOf(slot: number): EpochMs {
    return this.#at[slot] as number;
  }

  #place(slot: number, position: number): void {
    this.#heap[position] = slot;
    this.#position[slot] = position;
  }

  /** Lets `slot` rise from the free `position` and returns where it came to rest. */
  #moveUp(slot: number, position: number): number {
    const at = this.#atOf(slot);
    let free = position;
    while (free > 0) {
      const parent = (free - 1) >> 1;
      const above = this.#slotAt(parent);
      if (this.#atOf(above) <= at) break;
      this.#place(above, free);
      free = parent;
    }
    this.#place(slot, free);
    return free;
  }

  #moveDown(slot: number, position: number): void {
    const at = this.#atOf(slot);
    let free = position;
    for (;;) {
      const left = 2 * free + 1;
      if (left >= this.#size) break;
      const right = left + 1;
      const isRightFirst = right < this.#size && this.#atOf(this.#slotAt(right)) < this.#atOf(this.#slotAt(left));
      const child = isRightFirst ? right : left;
      const below = this.#slotAt(child);
      if (this.#atOf(below) >= at) break;
      this.#place(below, free);
      free = child;
    }
    this.#place(slot, free);
  }
}
