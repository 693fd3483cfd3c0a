/**
 * What lists are searched and sorted by, of every job, in twelve bytes each: its standing, what became of it last, whether it
 * runs, how often it failed in a row, when it is due next, and how long its newest run took and how late it began, which
 * share four of them. It is kept true by every look at a job, which is where its row
 * learns what it waits for; what the clock alone makes untrue can be told by what is here, and is read from its document
 * then (`JobQuestion`). The names lie in the arena of `IdentityIndex`.
 */
import type { PackedGlance } from "../../../core/restart/glance.js";
import type { TimelineHandle } from "../../timeline.js";
import { copied } from "../../typed-arrays.js";

const FIRST_CAPACITY = 16;
const UNSEEN: PackedGlance = { second: 0, marks: 0, lengths: 0 };

export class JobIndex {
  #seconds = new Uint32Array(FIRST_CAPACITY);
  /** 0: nobody has looked at the job yet. */
  #marks = new Uint32Array(FIRST_CAPACITY);
  #lengths = new Uint32Array(FIRST_CAPACITY);
  #changes = 0;
  /** Jobs that are being read, and of which nothing was told since. */
  readonly #readings = new Set<TimelineHandle>();

  /** Another number whenever anything has changed. */
  get revision(): number {
    return this.#changes;
  }

  get byteLength(): number {
    return this.#seconds.byteLength + this.#marks.byteLength + this.#lengths.byteLength;
  }

  secondOf(handle: TimelineHandle): number {
    return this.#seconds[handle] as number;
  }

  marksOf(handle: TimelineHandle): number {
    return this.#marks[handle] as number;
  }

  lengthsOf(handle: TimelineHandle): number {
    return this.#lengths[handle] as number;
  }

  set(handle: TimelineHandle, glance: PackedGlance): void {
    this.#put(handle, glance);
    this.touch();
  }

  /** Something of a job has changed that is not kept here. */
  touch(): void {
    this.#changes += 1;
  }

  clear(handle: TimelineHandle): void {
    this.#put(handle, UNSEEN);
    this.touch();
  }

  /** The job is about to be read: what comes of it is taken by `read`, unless it was told something else meanwhile. */
  reading(handle: TimelineHandle): void {
    this.#readings.add(handle);
  }

  /** It has been so all along: no revision. */
  read(handle: TimelineHandle, glance: PackedGlance): void {
    if (this.#readings.has(handle)) this.#put(handle, glance);
  }

  growTo(capacity: number): void {
    this.#seconds = copied(this.#seconds, new Uint32Array(capacity));
    this.#marks = copied(this.#marks, new Uint32Array(capacity));
    this.#lengths = copied(this.#lengths, new Uint32Array(capacity));
  }

  #put(handle: TimelineHandle, { second, marks, lengths }: PackedGlance): void {
    this.#seconds[handle] = second;
    this.#marks[handle] = marks;
    this.#lengths[handle] = lengths;
    this.#readings.delete(handle);
  }
}
