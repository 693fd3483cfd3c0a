/** Brings planned rows together in columns. */
import type { PlannedRow, Standing } from "../../core/resting.js";
import { STANDINGS } from "../../core/resting.js";
import type { PlannedPage, PlannedProblem } from "./types.js";

const STANDING_NUMBER = Object.fromEntries(STANDINGS.map((standing, number) => [standing, number])) as Readonly<
  Record<Standing, number>
>;

const FIRST_BYTES = 16 * 1024;
/** The most that UTF-8 needs for one UTF-16 unit. */
const BYTES_PER_UNIT = 3;

export class PageBuilder {
  #count = 0;
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = 0;
  readonly #identityEnds: Uint32Array<ArrayBuffer>;
  readonly #contentHash: Uint32Array<ArrayBuffer>;
  readonly #liveAt: Float64Array<ArrayBuffer>;
  readonly #wakeAt: Float64Array<ArrayBuffer>;
  readonly #standing: Uint8Array<ArrayBuffer>;
  readonly #problems: PlannedProblem[] = [];

  /** `capacity` rows and no more. */
  constructor(capacity: number) {
    this.#identityEnds = new Uint32Array(capacity);
    this.#contentHash = new Uint32Array(2 * capacity);
    this.#liveAt = new Float64Array(capacity);
    this.#wakeAt = new Float64Array(capacity);
    this.#standing = new Uint8Array(capacity);
  }

  add({ identity, standing, contentHash, liveAt, wakeAt, trouble }: PlannedRow, key: string): void {
    const index = this.#count;
    this.#count += 1;
    this.#identityEnds[index] = this.#write(identity);
    this.#contentHash[2 * index] = contentHash.high;
    this.#contentHash[2 * index + 1] = contentHash.low;
    this.#liveAt[index] = liveAt ?? Number.NaN;
    this.#wakeAt[index] = wakeAt ?? Number.NaN;
    this.#standing[index] = STANDING_NUMBER[standing];
    if (trouble !== null) this.#problems.push({ index, key, code: trouble.code, message: trouble.message });
  }

  page(): PlannedPage {
    return {
      count: this.#count,
      identityBytes: new Uint8Array(this.#bytes.subarray(0, this.#end)),
      identityEnds: this.#identityEnds,
      contentHash: this.#contentHash,
      liveAt: this.#liveAt,
      wakeAt: this.#wakeAt,
      standing: this.#standing,
      problems: this.#problems,
    };
  }

  #write(text: string): number {
    const needed = this.#end + BYTES_PER_UNIT * text.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    this.#end += this.#bytes.write(text, this.#end);
    return this.#end;
  }
}

/** What is handed over instead of being cloned. */
export function buffersOf(page: PlannedPage): ArrayBuffer[] {
  const { identityBytes, identityEnds, contentHash, liveAt, wakeAt, standing } = page;
  const columns = [identityBytes, identityEnds, contentHash, liveAt, wakeAt, standing];
  return columns.map(({ buffer }) => buffer as ArrayBuffer);
}

const DECODER = new TextDecoder();

export function identityOf({ identityBytes, identityEnds }: PlannedPage, index: number): string {
  const start = index === 0 ? 0 : (identityEnds[index - 1] as number);
  return DECODER.decode(identityBytes.subarray(start, identityEnds[index]));
}
