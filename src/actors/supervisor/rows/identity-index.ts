/**
 * Which identity has which handle: an open-addressed table over one arena of UTF-8 bytes, so that a million identities
 * cost what their letters cost and no string exists until somebody asks for it. Handles are dense; freed ones are used again.
 */
import type { TimelineHandle } from "../../timeline.js";
import { copied, grownCapacity } from "../../typed-arrays.js";
import type { NameTest } from "./name-pattern.js";

const EMPTY = 0;
const FIRST_CAPACITY = 16;
/** S37 bounds identities at 512 bytes; a document of another implementation may have longer ones. */
const FIRST_SCRATCH_BYTES = 2_048;
const MAX_BYTES_PER_CHAR = 3;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** FNV leaves neighbours side by side; this spreads them over the table. */
const SPREAD = 0x9e3779b1;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class IdentityIndex {
  /** Handle + 1 at a slot, 0 for an empty one. A power of two, at most half full: probes stay short. */
  #slots = new Uint32Array(FIRST_CAPACITY * 2);
  #hashes = new Uint32Array(FIRST_CAPACITY);
  #starts = new Uint32Array(FIRST_CAPACITY);
  #lengths = new Uint32Array(FIRST_CAPACITY);
  #arena = new Uint8Array(FIRST_CAPACITY * 32);
  #arenaEnd = 0;
  #wastedBytes = 0;
  #nextHandle = 0;
  readonly #free: TimelineHandle[] = [];
  #count = 0;
  #changes = 0;
  #scratch = new Uint8Array(FIRST_SCRATCH_BYTES);

  get size(): number {
    return this.#count;
  }

  /** Every handle given out so far is below this. */
  get handleEnd(): number {
    return this.#nextHandle;
  }

  /** Another number whenever an identity has come or gone. */
  get revision(): number {
    return this.#changes;
  }

  get byteLength(): number {
    const slots = this.#slots;
    const hashes = this.#hashes;
    const starts = this.#starts;
    const lengths = this.#lengths;
    const arena = this.#arena;
    return [slots, hashes, starts, lengths, arena].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Saves growing step by step when the number is known. */
  reserve(count: number): void {
    if (count > this.#hashes.length) this.#growHandles(count);
    if (count * 2 > this.#slots.length) this.#growSlots(count * 2);
  }

  /** null: nobody has it. */
  handleOf(identity: string): TimelineHandle | null {
    const length = this.#encode(identity);
    return this.handleOfBytes(this.#scratch, 0, length);
  }

  handleOfBytes(bytes: Uint8Array, from: number, end: number): TimelineHandle | null {
    const slot = this.#slotOf(bytes, from, end, hashOf(bytes, from, end));
    const at = this.#slots[slot] as number;
    return at === EMPTY ? null : at - 1;
  }

  /** The handle it has, or a new one. */
  add(identity: string): TimelineHandle {
    const length = this.#encode(identity);
    return this.addBytes(this.#scratch, 0, length);
  }

  addBytes(bytes: Uint8Array, from: number, end: number): TimelineHandle {
    const hash = hashOf(bytes, from, end);
    const known = this.#slots[this.#slotOf(bytes, from, end, hash)] as number;
    if (known !== EMPTY) return known - 1;
    if ((this.#count + 1) * 2 > this.#slots.length) this.#growSlots((this.#count + 1) * 2);
    const handle = this.#free.pop() ?? this.#nextHandle++;
    if (handle >= this.#hashes.length) this.#growHandles(handle + 1);
    this.#hashes[handle] = hash;
    this.#starts[handle] = this.#write(bytes, from, end);
    this.#lengths[handle] = end - from;
    this.#slots[this.#slotOf(bytes, from, end, hash)] = handle + 1;
    this.#count += 1;
    this.#changes += 1;
    return handle;
  }

  identityOf(handle: TimelineHandle): string {
    const start = this.#starts[handle] as number;
    return decoder.decode(this.#arena.subarray(start, start + (this.#lengths[handle] as number)));
  }

  byteLengthOf(handle: TimelineHandle): number {
    return this.#lengths[handle] as number;
  }

  /** Its bytes, from this place of `target` on; the place behind them. */
  copyTo(handle: TimelineHandle, target: Uint8Array, at: number): number {
    const start = this.#starts[handle] as number;
    const length = this.#lengths[handle] as number;
    target.set(this.#arena.subarray(start, start + length), at);
    return at + length;
  }

  matches(handle: TimelineHandle, test: NameTest): boolean {
    const start = this.#starts[handle] as number;
    return test.matches(this.#arena, start, start + (this.#lengths[handle] as number));
  }

  has(handle: TimelineHandle): boolean {
    return handle < this.#nextHandle && (this.#lengths[handle] as number) > 0;
  }

  remove(handle: TimelineHandle): void {
    if (!this.has(handle)) return;
    const start = this.#starts[handle] as number;
    const length = this.#lengths[handle] as number;
    this.#vacate(this.#slotOf(this.#arena, start, start + length, this.#hashes[handle] as number));
    this.#wastedBytes += length;
    this.#lengths[handle] = 0;
    this.#free.push(handle);
    this.#count -= 1;
    this.#changes += 1;
  }

  /** The order of the bytes, which is that of the code points. */
  compare(one: TimelineHandle, other: TimelineHandle): number {
    const arena = this.#arena;
    const starts = this.#starts;
    const lengths = this.#lengths;
    const [from, length] = [starts[other] as number, lengths[other] as number];
    return this.#compareBytes(one, arena, from, length);
  }

  compareTo(handle: TimelineHandle, identity: string): number {
    const length = this.#encode(identity);
    return this.#compareBytes(handle, this.#scratch, 0, length);
  }

  #compareBytes(handle: TimelineHandle, bytes: Uint8Array, from: number, length: number): number {
    const [start, ownLength] = [this.#starts[handle] as number, this.#lengths[handle] as number];
    const shared = Math.min(ownLength, length);
    for (let at = 0; at < shared; at++) {
      const difference = (this.#arena[start + at] as number) - (bytes[from + at] as number);
      if (difference !== 0) return difference;
    }
    return ownLength - length;
  }

  #encode(identity: string): number {
    const needed = identity.length * MAX_BYTES_PER_CHAR;
    if (needed > this.#scratch.length) this.#scratch = new Uint8Array(needed);
    return encoder.encodeInto(identity, this.#scratch).written;
  }

  /** Where it is, or the empty slot where it would be. */
  #slotOf(bytes: Uint8Array, from: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const at = this.#slots[slot] as number;
      if (at === EMPTY || (this.#hashes[at - 1] === hash && this.#isAt(at - 1, bytes, from, end))) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isAt(handle: TimelineHandle, bytes: Uint8Array, from: number, end: number): boolean {
    if (this.#lengths[handle] !== end - from) return false;
    const start = this.#starts[handle] as number;
    for (let at = from; at < end; at++) if (this.#arena[start + at - from] !== bytes[at]) return false;
    return true;
  }

  /** What follows without a gap moves up, so that every probe still ends at the first empty slot. */
  #vacate(from: number): void {
    const mask = this.#slots.length - 1;
    let hole = from;
    for (let slot = (hole + 1) & mask; this.#slots[slot] !== EMPTY; slot = (slot + 1) & mask) {
      const home = (this.#hashes[(this.#slots[slot] as number) - 1] as number) & mask;
      const isReachable = ((slot - home) & mask) < ((slot - hole) & mask);
      if (isReachable) continue;
      this.#slots[hole] = this.#slots[slot] as number;
      hole = slot;
    }
    this.#slots[hole] = EMPTY;
  }

  #write(bytes: Uint8Array, from: number, end: number): number {
    const length = end - from;
    if (this.#arenaEnd + length > this.#arena.length) this.#makeRoom(length);
    const start = this.#arenaEnd;
    this.#arena.set(bytes.subarray(from, end), start);
    this.#arenaEnd += length;
    return start;
  }

  /** Room of identities that are gone is won back before more is taken. */
  #makeRoom(length: number): void {
    const used = this.#arenaEnd - this.#wastedBytes;
    const next = new Uint8Array(grownCapacity(used + length, FIRST_CAPACITY * 32));
    if (this.#wastedBytes === 0) {
      // The usual case, while a start takes in a million of them: one copy instead of one for each.
      next.set(this.#arena.subarray(0, this.#arenaEnd));
      this.#arena = next;
      return;
    }
    let end = 0;
    for (let handle = 0; handle < this.#nextHandle; handle++) {
      const start = this.#starts[handle] as number;
      const size = this.#lengths[handle] as number;
      if (size === 0) continue;
      next.set(this.#arena.subarray(start, start + size), end);
      this.#starts[handle] = end;
      end += size;
    }
    this.#arena = next;
    this.#arenaEnd = end;
    this.#wastedBytes = 0;
  }

  #growHandles(needed: number): void {
    const capacity = grownCapacity(this.#hashes.length, needed);
    this.#hashes = copied(this.#hashes, new Uint32Array(capacity));
    this.#starts = copied(this.#starts, new Uint32Array(capacity));
    this.#lengths = copied(this.#lengths, new Uint32Array(capacity));
  }

  #growSlots(needed: number): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(needed)));
    const mask = this.#slots.length - 1;
    for (const at of before) {
      if (at === EMPTY) continue;
      let slot = (this.#hashes[at - 1] as number) & mask;
      while (this.#slots[slot] !== EMPTY) slot = (slot + 1) & mask;
      this.#slots[slot] = at;
    }
  }
}

function hashOf(bytes: Uint8Array, from: number, end: number): number {
  let hash = FNV_OFFSET;
  for (let at = from; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), FNV_PRIME);
  const spread = Math.imul(hash ^ (hash >>> 15), SPREAD);
  return (spread ^ (spread >>> 13)) >>> 0;
}
