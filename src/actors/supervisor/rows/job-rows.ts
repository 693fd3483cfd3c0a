/**
 * All jobs at rest: a row of numbers for each, some hundred bytes with its name and its place in the timeline. Whatever
 * else there is to know of a resting job lies in the store.
 */
import type { ContentHash } from "../../../core/job/content-hash.js";
import { MARK } from "../../../core/restart/glance.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { TimelineHandle } from "../../timeline.js";
import { copied, grownCapacity } from "../../typed-arrays.js";
import { IdentityIndex } from "./identity-index.js";
import { JobIndex } from "./job-index.js";
import { WakeTimes } from "./wake-times.js";

const FIRST_CAPACITY = 16;
const REMOVED = 1;
const MUST_RETURN = 2;
const UNTOLD = 4;
const NO_CONTENT: ContentHash = { high: 0, low: 0 };

export class JobRows {
  readonly names = new IdentityIndex();
  /** What lists are searched and sorted by. */
  readonly index: JobIndex;
  #liveTimes = new Float64Array(FIRST_CAPACITY);
  readonly #wakeTimes = new WakeTimes(FIRST_CAPACITY);
  #contents = new Uint32Array(FIRST_CAPACITY * 2);
  #flags = new Uint8Array(FIRST_CAPACITY);
  #removedCount = 0;

  constructor() {
    this.index = new JobIndex(this.#wakeTimes, FIRST_CAPACITY);
  }

  /** Jobs that are configured. */
  get presentCount(): number {
    return this.names.size - this.#removedCount;
  }

  get byteLength(): number {
    const { names, index } = this;
    const liveTimes = this.#liveTimes;
    const wakeTimes = this.#wakeTimes;
    const contents = this.#contents;
    const flags = this.#flags;
    return [names, index, liveTimes, wakeTimes, contents, flags].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  reserve(count: number): void {
    this.names.reserve(count);
    if (count > this.#flags.length) this.#growTo(count);
  }

  add(identity: string): TimelineHandle {
    const known = this.names.size;
    const handle = this.names.add(identity);
    if (this.names.size !== known) this.#clear(handle);
    return handle;
  }

  addBytes(bytes: Uint8Array, from: number, end: number): TimelineHandle {
    const known = this.names.size;
    const handle = this.names.addBytes(bytes, from, end);
    if (this.names.size !== known) this.#clear(handle);
    return handle;
  }

  remove(handle: TimelineHandle): void {
    if (this.isRemoved(handle)) this.#removedCount -= 1;
    this.#flags[handle] = 0;
    this.#wakeTimes.clear(handle);
    this.index.clear(handle);
    this.names.remove(handle);
  }

  /** Handles of all jobs, in no order that means anything. */
  *handles(): Generator<TimelineHandle> {
    for (let handle = 0; handle < this.names.handleEnd; handle++) if (this.names.has(handle)) yield handle;
  }

  /** Nominal time of the live period of a job at rest. */
  liveAt(handle: TimelineHandle): EpochMs | null {
    return instantOf(this.#liveTimes[handle]);
  }

  setLiveAt(handle: TimelineHandle, at: EpochMs | null): void {
    this.#liveTimes[handle] = at ?? Number.NaN;
  }

  /** When the clock next changes something. */
  wakeAt(handle: TimelineHandle): EpochMs | null {
    return this.#wakeTimes.wakeAt(handle);
  }

  setWakeAt(handle: TimelineHandle, at: EpochMs | null): void {
    this.#wakeTimes.setWakeAt(handle, at);
  }

  /** The earliest of all; null when nobody waits for anything. */
  firstWakeAt(): EpochMs | null {
    return this.#wakeTimes.firstWakeAt(this.names.handleEnd);
  }

  contentOf(handle: TimelineHandle): ContentHash {
    return { high: this.#contents[handle * 2] as number, low: this.#contents[handle * 2 + 1] as number };
  }

  hasContent(handle: TimelineHandle, { high, low }: ContentHash): boolean {
    return this.#contents[handle * 2] === high && this.#contents[handle * 2 + 1] === low;
  }

  setContent(handle: TimelineHandle, { high, low }: ContentHash): void {
    this.#contents[handle * 2] = high;
    this.#contents[handle * 2 + 1] = low;
  }

  /** Gone from the configuration, and watched only until what it started has ended (S16). */
  isRemoved(handle: TimelineHandle): boolean {
    return ((this.#flags[handle] as number) & REMOVED) !== 0;
  }

  setRemoved(handle: TimelineHandle, isRemoved: boolean): void {
    if (this.isRemoved(handle) !== isRemoved) this.#removedCount += isRemoved ? 1 : -1;
    this.#setFlag(handle, REMOVED, isRemoved);
    this.index.touch();
  }

  /** S13: time was lost or moved since it was looked at last; whatever it hears next, it looks at where it is first. */
  mustReturn(handle: TimelineHandle): boolean {
    return ((this.#flags[handle] as number) & MUST_RETURN) !== 0;
  }

  setMustReturn(handle: TimelineHandle, mustReturn: boolean): void {
    this.#setFlag(handle, MUST_RETURN, mustReturn);
  }

  /** It was not told its definition yet: until then nothing of it is judged (S14, S16). */
  isUntold(handle: TimelineHandle): boolean {
    return ((this.#flags[handle] as number) & UNTOLD) !== 0;
  }

  setUntold(handle: TimelineHandle, isUntold: boolean): void {
    this.#setFlag(handle, UNTOLD, isUntold);
  }

  /** Although it rests, the next start has to look at it; what nobody has looked at, or has no content, is no better. */
  asksStarts(handle: TimelineHandle): boolean {
    const marks = this.index.marksOf(handle);
    return marks === 0 || (marks & MARK.asksStarts) !== 0 || this.hasContent(handle, NO_CONTENT);
  }

  #setFlag(handle: TimelineHandle, flag: number, isSet: boolean): void {
    const before = this.#flags[handle] as number;
    this.#flags[handle] = isSet ? before | flag : before & ~flag;
  }

  #clear(handle: TimelineHandle): void {
    if (handle >= this.#flags.length) this.#growTo(handle + 1);
    this.#flags[handle] = 0;
    this.#wakeTimes.clear(handle);
    this.index.clear(handle);
    this.#liveTimes[handle] = Number.NaN;
    this.#contents[handle * 2] = 0;
    this.#contents[handle * 2 + 1] = 0;
  }

  #growTo(needed: number): void {
    const capacity = grownCapacity(this.#flags.length, needed);
    this.index.growTo(capacity);
    this.#liveTimes = copied(this.#liveTimes, new Float64Array(capacity));
    this.#wakeTimes.growTo(capacity);
    this.#contents = copied(this.#contents, new Uint32Array(capacity * 2));
    this.#flags = copied(this.#flags, new Uint8Array(capacity));
  }
}

function instantOf(at: number | undefined): EpochMs | null {
  return at === undefined || Number.isNaN(at) ? null : at;
}
