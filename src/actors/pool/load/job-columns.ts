/** Definitions as canonical texts, one behind the other, with what is asked of them most often beside them. */
import type { LocatedJob } from "../../../core/config/located.js";
import { contentHashOf } from "../../../core/job/content-hash.js";
import { canonicalDefinitionText } from "../../../core/job/schema.js";
import { copied, grownCapacity } from "../../supervisor/typed-arrays.js";

export interface JobColumns {
  readonly count: number;
  /** UTF-8. */
  readonly texts: Uint8Array;
  readonly textEnds: Uint32Array;
  /** Two numbers a job: `high` and `low`. */
  readonly contentHash: Uint32Array;
  readonly lines: Uint32Array;
  readonly columns: Uint32Array;
  /** 1: a request; 0: a process. */
  readonly isHttp: Uint8Array;
}

const FIRST_BYTES = 64 * 1024;
const FIRST_JOBS = 64;
/** The most that UTF-8 needs for one UTF-16 unit. */
const BYTES_PER_UNIT = 3;

export class JobColumnsBuilder {
  #count = 0;
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = 0;
  #textEnds = new Uint32Array(FIRST_JOBS);
  #contentHash = new Uint32Array(2 * FIRST_JOBS);
  #lines = new Uint32Array(FIRST_JOBS);
  #columns = new Uint32Array(FIRST_JOBS);
  #isHttp = new Uint8Array(FIRST_JOBS);

  add({ definition, line, column }: LocatedJob): void {
    const index = this.#count;
    if (index === this.#lines.length) this.#grow();
    const text = canonicalDefinitionText(definition);
    const { high, low } = contentHashOf(text);
    this.#count += 1;
    this.#textEnds[index] = this.#write(text);
    this.#contentHash[2 * index] = high;
    this.#contentHash[2 * index + 1] = low;
    this.#lines[index] = line;
    this.#columns[index] = column;
    this.#isHttp[index] = definition.target.kind === "http" ? 1 : 0;
  }

  /** Of their exact size: they are kept, and what is kept is counted. */
  columns(): JobColumns {
    const count = this.#count;
    return {
      count,
      texts: new Uint8Array(this.#bytes.subarray(0, this.#end)),
      textEnds: this.#textEnds.slice(0, count),
      contentHash: this.#contentHash.slice(0, 2 * count),
      lines: this.#lines.slice(0, count),
      columns: this.#columns.slice(0, count),
      isHttp: this.#isHttp.slice(0, count),
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

  #grow(): void {
    const capacity = grownCapacity(this.#lines.length, 2 * this.#lines.length);
    this.#textEnds = copied(this.#textEnds, new Uint32Array(capacity));
    this.#contentHash = copied(this.#contentHash, new Uint32Array(2 * capacity));
    this.#lines = copied(this.#lines, new Uint32Array(capacity));
    this.#columns = copied(this.#columns, new Uint32Array(capacity));
    this.#isHttp = copied(this.#isHttp, new Uint8Array(capacity));
  }
}

export function buffersOfColumns(columns: JobColumns): ArrayBuffer[] {
  const { texts, textEnds, contentHash, lines, columns: places, isHttp } = columns;
  return [texts, textEnds, contentHash, lines, places, isHttp].map(({ buffer }) => buffer as ArrayBuffer);
}

export function bytesOfColumns(columns: JobColumns): number {
  return buffersOfColumns(columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** The bytes of the text at `index`. */
export function textBytes({ texts, textEnds }: JobColumns, index: number): Uint8Array {
  return texts.subarray(index === 0 ? 0 : textEnds[index - 1], textEnds[index]);
}
