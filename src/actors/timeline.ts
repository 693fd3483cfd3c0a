/**
 * When each resting job is due next: a priority queue over typed arrays, 24 bytes an entry, so that a million jobs cost
 * what a picture does. It knows handles and instants; what a handle stands for is its owner's business.
 */
import type { EpochMs } from "../core/time/instant.js";
import { copied, grownCapacity } from "./typed-arrays.js";

/** Small non-negative integers, given out by the owner densely from 0: arrays are indexed by them. */
export type TimelineHandle = number;

/** Four children a node: half the levels of a binary heap, and siblings share a cache line. */
const ARITY = 4;
const ABSENT = 0xffffffff;
const FIRST_CAPACITY = 16;
/** What fits the arrays' 32 bits, with `ABSENT` kept apart. */
const TIMELINE_MAX_HANDLE = 0x7fffffff;

export class Timeline {
  /** Indexed by handle. */
  #dueAt = new Float64Array(FIRST_CAPACITY);
  #order = new Float64Array(FIRST_CAPACITY);
  #position = new Uint32Array(FIRST_CAPACITY).fill(ABSENT);
  /** The heap: handles, the earliest first. */
  #heap = new Uint32Array(FIRST_CAPACITY);
  #count = 0;

  /** `capacity` saves growing when the number of jobs is known; it is no limit. */
  constructor(capacity = 0) {
    this.reserve(capacity);
  }

  reserve(capacity: number): void {
    if (capacity > this.#dueAt.length) this.#growTo(capacity);
  }

  get size(): number {
    return this.#count;
  }

  /** Bytes held by the arrays. */
  get byteLength(): number {
    return this.#dueAt.byteLength + this.#order.byteLength + this.#position.byteLength + this.#heap.byteLength;
  }

  /** The earliest instant at which anything is due; null when nothing is. */
  peekAt(): EpochMs | null {
    return this.#count === 0 ? null : (this.#dueAt[this.#heap[0] as number] as number);
  }

  /** When this handle is due; null when it is not in the timeline. */
  atOf(handle: TimelineHandle): EpochMs | null {
    return this.has(handle) ? (this.#dueAt[handle] as number) : null;
  }

  has(handle: TimelineHandle): boolean {
    return handle < this.#position.length && this.#position[handle] !== ABSENT;
  }

  /**
   * Adds the handle or moves it. Among equal instants the smaller `order` comes first (S13: periods in nominal order),
   * then the smaller handle, so that the sequence depends on nothing but the entries.
   */
  set(handle: TimelineHandle, at: EpochMs, order: number): void {
    assertKey(handle, at, order);
    if (handle >= this.#dueAt.length) this.#growTo(handle + 1);
    const known = this.#position[handle] as number;
    const from = known === ABSENT ? this.#count : known;
    if (known === ABSENT) this.#count += 1;
    this.#dueAt[handle] = at;
    this.#order[handle] = order;
    this.#place(handle, from);
    this.#siftDown(handle, this.#siftUp(handle, from));
  }

  /** False when it was not there. */
  remove(handle: TimelineHandle): boolean {
    if (!this.has(handle)) return false;
    const hole = this.#position[handle] as number;
    this.#position[handle] = ABSENT;
    this.#count -= 1;
    if (hole < this.#count) {
      const last = this.#heap[this.#count] as number;
      this.#place(last, hole);
      this.#siftDown(last, this.#siftUp(last, hole));
    }
    return true;
  }

  /** Takes out what is due at or before `now`, in order, at most `limit` of it: the rest stays for the next call. */
  popDue(now: EpochMs, limit: number = Number.POSITIVE_INFINITY): TimelineHandle[] {
    const due: TimelineHandle[] = [];
    while (this.#count > 0 && due.length < limit) {
      const first = this.#heap[0] as number;
      if ((this.#dueAt[first] as number) > now) break;
      due.push(first);
      this.remove(first);
    }
    return due;
  }

  /** The same, and all of it stays: in no order. */
  due(now: EpochMs): TimelineHandle[] {
    const due: TimelineHandle[] = [];
    const visit = this.#count === 0 ? [] : [0];
    for (let at = visit.pop(); at !== undefined; at = visit.pop()) {
      const handle = this.#heap[at] as number;
      if ((this.#dueAt[handle] as number) > now) continue;
      due.push(handle);
      const first = at * ARITY + 1;
      for (let child = first; child < Math.min(first + ARITY, this.#count); child++) visit.push(child);
    }
    return due;
  }

  #siftUp(handle: number, from: number): number {
    let at = from;
    while (at > 0) {
      const above = Math.floor((at - 1) / ARITY);
      const parent = this.#heap[above] as number;
      if (!this.#isBefore(handle, parent)) break;
      this.#place(parent, at);
      at = above;
    }
    this.#place(handle, at);
    return at;
  }

  #siftDown(handle: number, from: number): void {
    let at = from;
    for (;;) {
      const below = this.#firstChildOf(at);
      const child = below < 0 ? handle : (this.#heap[below] as number);
      if (below < 0 || !this.#isBefore(child, handle)) break;
      this.#place(child, at);
      at = below;
    }
    this.#place(handle, at);
  }

  /** The position of the earliest child; -1 for a leaf. */
  #firstChildOf(parent: number): number {
    const start = parent * ARITY + 1;
    if (start >= this.#count) return -1;
    const end = Math.min(start + ARITY, this.#count);
    let best = start;
    for (let at = start + 1; at < end; at++) {
      if (this.#isBefore(this.#heap[at] as number, this.#heap[best] as number)) best = at;
    }
    return best;
  }

  #isBefore(a: number, b: number): boolean {
    const byInstant = (this.#dueAt[a] as number) - (this.#dueAt[b] as number);
    if (byInstant !== 0) return byInstant < 0;
    const byOrder = (this.#order[a] as number) - (this.#order[b] as number);
    return byOrder !== 0 ? byOrder < 0 : a < b;
  }

  #place(handle: number, at: number): void {
    this.#heap[at] = handle;
    this.#position[handle] = at;
  }

  #growTo(needed: number): void {
    const capacity = grownCapacity(this.#dueAt.length, needed);
    this.#dueAt = copied(this.#dueAt, new Float64Array(capacity));
    this.#order = copied(this.#order, new Float64Array(capacity));
    this.#heap = copied(this.#heap, new Uint32Array(capacity));
    this.#position = copied(this.#position, new Uint32Array(capacity).fill(ABSENT));
  }
}

function assertKey(handle: number, at: number, order: number): void {
  if (!(Number.isInteger(handle) && handle >= 0 && handle <= TIMELINE_MAX_HANDLE)) {
    throw new Error(`invariant broken: ${handle} is no timeline handle`);
  }
  if (!(Number.isFinite(at) && Number.isFinite(order))) {
    throw new Error(`invariant broken: a timeline entry at ${at}, order ${order}`);
  }
}
