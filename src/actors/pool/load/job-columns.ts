/** Definitions as canonical texts, one behind the other, with what is asked of them most often beside them. */
import type { LocatedJob } from "../../../core/config/located.js";
import { contentHashOf } from "../../../core/job/content-hash.js";
import { canonicalDefinitionText } from "../../../core/job/schema.js";
import { copied, grownCapacity } from "../../typed-arrays.js";
import { TextBytes } from "../text-bytes.js";
import type { Slabs } from "./slabs.js";

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

export class JobColumnsBuilder {
  #count = 0;
  readonly #texts = new TextBytes(FIRST_BYTES);
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
    this.#textEnds[index] = this.#texts.add(text);
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
      texts: this.#texts.bytes(),
      textEnds: this.#textEnds.slice(0, count),
      contentHash: this.#contentHash.slice(0, 2 * count),
      lines: this.#lines.slice(0, count),
      columns: this.#columns.slice(0, count),
      isHttp: this.#isHttp.slice(0, count),
    };
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
  return allColumns(columns).map(({ buffer }) => buffer as ArrayBuffer);
}

export function bytesOfColumns(columns: JobColumns): number {
  return allColumns(columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** The same elsewhere. */
export function keptColumns(columns: JobColumns, slabs: Slabs): JobColumns {
  return {
    count: columns.count,
    texts: slabs.kept(columns.texts),
    textEnds: slabs.kept(columns.textEnds),
    contentHash: slabs.kept(columns.contentHash),
    lines: slabs.kept(columns.lines),
    columns: slabs.kept(columns.columns),
    isHttp: slabs.kept(columns.isHttp),
  };
}

function allColumns({ texts, textEnds, contentHash, lines, columns, isHttp }: JobColumns) {
  return [texts, textEnds, contentHash, lines, columns, isHttp];
}

/** The bytes of the text at `index`. */
export function textBytes({ texts, textEnds }: JobColumns, index: number): Uint8Array {
  return texts.subarray(index === 0 ? 0 : textEnds[index - 1], textEnds[index]);
}
