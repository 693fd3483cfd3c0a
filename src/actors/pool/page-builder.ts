/** Brings planned rows together in columns. */
import type { PlannedRow, Standing } from "../../core/restart/resting.js";
import { STANDINGS } from "../../core/restart/resting.js";
import { TextBytes } from "./text-bytes.js";
import type { PlannedPage, PlannedProblem } from "./types.js";

const STANDING_NUMBER = Object.fromEntries(STANDINGS.map((standing, number) => [standing, number])) as Readonly<
  Record<Standing, number>
>;

const FIRST_BYTES = 16 * 1024;

export class PageBuilder {
  #count = 0;
  readonly #identities = new TextBytes(FIRST_BYTES);
  readonly #identityEnds: Uint32Array<ArrayBuffer>;
  readonly #contentHash: Uint32Array<ArrayBuffer>;
  readonly #liveAt: Float64Array<ArrayBuffer>;
  readonly #wakeAt: Float64Array<ArrayBuffer>;
  readonly #glances: Uint32Array<ArrayBuffer>;
  readonly #standing: Uint8Array<ArrayBuffer>;
  readonly #problems: PlannedProblem[] = [];

  /** `capacity` rows and no more. */
  constructor(capacity: number) {
    this.#identityEnds = new Uint32Array(capacity);
    this.#contentHash = new Uint32Array(2 * capacity);
    this.#liveAt = new Float64Array(capacity);
    this.#wakeAt = new Float64Array(capacity);
    this.#glances = new Uint32Array(3 * capacity);
    this.#standing = new Uint8Array(capacity);
  }

  add({ identity, standing, contentHash, liveAt, wakeAt, glance, trouble }: PlannedRow, key: string): void {
    const index = this.#count;
    this.#count += 1;
    this.#identityEnds[index] = this.#identities.add(identity);
    this.#contentHash[2 * index] = contentHash.high;
    this.#contentHash[2 * index + 1] = contentHash.low;
    this.#liveAt[index] = liveAt ?? Number.NaN;
    this.#wakeAt[index] = wakeAt ?? Number.NaN;
    this.#glances[3 * index] = glance?.second ?? 0;
    this.#glances[3 * index + 1] = glance?.marks ?? 0;
    this.#glances[3 * index + 2] = glance?.lengths ?? 0;
    this.#standing[index] = STANDING_NUMBER[standing];
    if (trouble !== null) this.#problems.push({ index, key, code: trouble.code, message: trouble.message });
  }

  page(): PlannedPage {
    return {
      count: this.#count,
      identityBytes: this.#identities.bytes(),
      identityEnds: this.#identityEnds,
      contentHash: this.#contentHash,
      liveAt: this.#liveAt,
      wakeAt: this.#wakeAt,
      glances: this.#glances,
      standing: this.#standing,
      problems: this.#problems,
    };
  }
}

/** What is handed over instead of being cloned. */
export function buffersOf(page: PlannedPage): ArrayBuffer[] {
  const { identityBytes, identityEnds, contentHash, liveAt, wakeAt, glances, standing } = page;
  const columns = [identityBytes, identityEnds, contentHash, liveAt, wakeAt, glances, standing];
  return columns.map(({ buffer }) => buffer as ArrayBuffer);
}
