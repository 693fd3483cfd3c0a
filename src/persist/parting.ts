/** What an opened store was told to leave for the next, and what it was left itself (`FarewellPort`). */
import type { LockTerm } from "./lock.js";
import type { Batch, FarewellPort } from "./store.js";

export class Parting implements FarewellPort {
  #left: Buffer | null;
  #words: readonly Uint8Array[] | null = null;
  readonly #assertOurs: (term: LockTerm) => void;

  constructor(left: Buffer | null, assertOurs: (term: LockTerm) => void) {
    this.#left = left;
    this.#assertOurs = assertOurs;
  }

  /** null: nothing is to be left. */
  get words(): readonly Uint8Array[] | null {
    return this.#words;
  }

  take(): Buffer | null {
    const left = this.#left;
    this.#left = null;
    return left;
  }

  leave(term: LockTerm, words: readonly Uint8Array[]): void {
    this.#assertOurs(term);
    this.#words = words;
  }

  /** What was said of jobs, by anybody, is not true any more. */
  heed({ documents = [], definitions = [], removed }: Batch): void {
    const isOfJobs = documents.length > 0 || definitions.length > 0 || (removed?.definitions ?? []).length > 0;
    if (!isOfJobs) return;
    this.#words = null;
    this.#left = null;
  }
}
