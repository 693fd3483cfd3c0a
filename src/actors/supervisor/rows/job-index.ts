/**
 * What lists are searched and sorted by, of every job, in eight bytes each: its standing, what became of it last, whether it
 * runs, whether a start has to look at it, how often it failed in a row, and how long its newest run took and how late it
 * began, which share four of them. When it is due next is told by what it waits for (`WakeTimes`). It is kept true by every
 * look at a job, which is where its row learns that; what the clock alone makes untrue can be told by what is here, and is
 * read from its document then (`JobQuestion`). The names lie in the arena of `IdentityIndex`.
 */
import type { PackedGlance } from "../../../core/restart/glance.js";
import type { TimelineHandle } from "../../timeline.js";
import { copied } from "../../typed-arrays.js";
import type { WakeTimes } from "./wake-times.js";

const UNSEEN: PackedGlance = { second: 0, marks: 0, lengths: 0 };

export class JobIndex {
  readonly #times: WakeTimes;
  /** 0: nobody has looked at the job yet. */
  #marks: Uint32Array;
  #lengths: Uint32Array;
  #changes = 0;
  /** Jobs that are being read, and of which nothing was told since. */
  readonly #readings = new Set<TimelineHandle>();

  constructor(times: WakeTimes, capacity: number) {
    this.#times = times;
    this.#marks = new Uint32Array(capacity);
    this.#lengths = new Uint32Array(capacity);
  }

  /** Another number whenever anything has changed. */
  get revision(): number {
    return this.#changes;
  }

  get byteLength(): number {
    return this.#marks.byteLength + this.#lengths.byteLength;
  }

  secondOf(handle: TimelineHandle): number {
    return this.#times.secondOf(handle);
  }

  marksOf(handle: TimelineHandle): number {
    return this.#marks[handle] as number;
  }

  lengthsOf(handle: TimelineHandle): number {
    return this.#lengths[handle] as number;
  }

  glanceOf(handle: TimelineHandle): PackedGlance {
    return { second: this.secondOf(handle), marks: this.marksOf(handle), lengths: this.lengthsOf(handle) };
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
    this.#marks = copied(this.#marks, new Uint32Array(capacity));
    this.#lengths = copied(this.#lengths, new Uint32Array(capacity));
  }

  #put(handle: TimelineHandle, { second, marks, lengths }: PackedGlance): void {
    this.#times.setSecond(handle, second);
    this.#marks[handle] = marks;
    this.#lengths[handle] = lengths;
    this.#readings.delete(handle);
  }
}
