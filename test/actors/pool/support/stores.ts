import { afterEach } from "vitest";
import { openLmdbStore } from "../../../../src/persist/lmdb/open.js";
import { acquireDirectoryLock, type LockTerm } from "../../../../src/persist/lock.js";
import type { Batch, StateStore } from "../../../../src/persist/store.js";
import { must } from "../../../persist/store-contract.js";
import { FAST_PARENT, temporaryDirectories } from "../../../support/temporary.js";
import { documentOf, jobAt, versionOf, writesOf } from "./stored-jobs.js";

export interface OpenStore {
  readonly store: StateStore;
  readonly term: LockTerm;
  readonly directory: string;
}

/** LMDB stores that are closed after each test. */
export function lmdbStores(): (batch?: Batch, directory?: string) => Promise<OpenStore> {
  const opened: OpenStore[] = [];
  afterEach(async () => {
    for (const { store, term } of opened.splice(0)) {
      await store.close();
      term.release();
    }
  });
  // Afterwards: what is made later is taken apart first.
  const newDirectory = temporaryDirectories(FAST_PARENT);
  return async (batch, directory = newDirectory()) => {
    const term = must(acquireDirectoryLock(directory));
    const it = { store: must(await openLmdbStore(term)), term, directory };
    opened.push(it);
    if (batch !== undefined) await it.store.commit(term, batch);
    return it;
  };
}

/** So many jobs that all can go on resting. */
export function quietJobs(count: number): Batch {
  const jobs = Array.from({ length: count }, (_, index) => jobAt(index));
  return {
    documents: jobs.map((job) => writesOf(documentOf(job))),
    definitions: jobs.map((job) => versionOf(job)),
  };
}
