/**
 * What was heard, as far back as there is room: frames, and the actors as they were before the first of them. It says what it
 * has let go of.
 */
import { isFields, type Told } from "./frames.js";
import { Moments } from "./moments.js";
import { apply, copyOf, emptyWorld, type World } from "./world.js";

export const RECORDING_LIMITS = {
  frames: 20_000,
  /** Of the texts that frames came as. */
  bytes: 16 * 1024 * 1024,
} as const;

export class Recording {
  readonly moments = new Moments();
  #frames: Told[] = [];
  #sizes: number[] = [];
  #bytes = 0;
  /** Number of the first frame that is still there. */
  #first = 0;
  readonly #base: World = emptyWorld();
  readonly #tip: World = emptyWorld();
  /** Frames that the daemon did not send, because they were too many. */
  leftOutThere = 0;
  /** Frames that were not kept because the recording was held and full. */
  leftOutHere = 0;
  /** Nothing is let go of: somebody looks at it. */
  isHeld = false;

  get first(): number {
    return this.#first;
  }

  /** Number of the frame that comes next. */
  get end(): number {
    return this.#first + this.#frames.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The actors as they are after the last frame: to be read, and not to be kept. */
  get tip(): World {
    return this.#tip;
  }

  frameAt(number: number): Told | undefined {
    return this.#frames[number - this.#first];
  }

  append(told: Told, bytes: number): void {
    if (this.isHeld && this.#isFull(bytes)) {
      this.leftOutHere += 1;
      return;
    }
    const number = this.end;
    this.#frames.push(told);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    apply(this.#tip, told, number);
    this.moments.append(told, number, this.#tip);
    this.leftOutThere += leftOutBy(told);
    if (!this.isHeld && this.#isFull(0)) this.#letGo();
  }

  /** The actors as they were after a frame. */
  worldAfter(number: number): World {
    if (number >= this.end - 1) return copyOf(this.#tip);
    const world = copyOf(this.#base);
    for (let at = this.#first; at <= number; at += 1) {
      const told = this.frameAt(at);
      if (told !== undefined) apply(world, told, at);
    }
    return world;
  }

  /** The actors as they were before the first frame. */
  get base(): World {
    return this.#base;
  }

  #isFull(more: number): boolean {
    return this.#frames.length >= RECORDING_LIMITS.frames || this.#bytes + more > RECORDING_LIMITS.bytes;
  }

  /** A tenth at once: an array is not cut for every frame. */
  #letGo(): void {
    let count = 0;
    while (count < this.#frames.length && (count < this.#frames.length / 10 || this.#bytes > RECORDING_LIMITS.bytes)) {
      const told = this.#frames[count];
      this.#bytes -= this.#sizes[count] ?? 0;
      if (told !== undefined) apply(this.#base, told, this.#first + count);
      count += 1;
    }
    this.#frames = this.#frames.slice(count);
    this.#sizes = this.#sizes.slice(count);
    this.#first += count;
    this.moments.letGoBefore(this.#first);
  }
}

function leftOutBy(told: Told): number {
  if (told.type !== "@xstate.event" || told.event.type !== "FRAMES_LEFT_OUT" || !isFields(told.event)) return 0;
  const { frames } = told.event;
  return typeof frames === "number" ? frames : 0;
}
