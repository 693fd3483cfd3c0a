/** Planning on this thread, in slices that leave the loop its turns. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PlanRules, StoredJob } from "../../core/restart/resting.js";
import { type DocumentKey, documentKey } from "../../persist/keys.js";
import type { LmdbReader } from "../../persist/lmdb/reads.js";
import { keyRanges } from "../../persist/lmdb/scan.js";
import type { DocumentEntry, StateReader, StoredVersion } from "../../persist/store.js";
import { INLINE_ROWS } from "./limits.js";
import { planJobs } from "./plan-jobs.js";
import type { PlannedPage } from "./types.js";

export async function* planRanges(store: LmdbReader, jobs: number, rules: PlanRules): AsyncGenerator<PlannedPage> {
  for (const range of keyRanges(Math.max(1, Math.ceil(jobs / INLINE_ROWS)))) {
    yield planJobs(store.jobsIn(range), rules);
    await nextTurn();
  }
}

/** The same of any store, for which everything is asked by name. Holds the names of all jobs meanwhile. */
export async function* planStore(store: StateReader, rules: PlanRules): AsyncGenerator<PlannedPage> {
  const names = await namesOf(store);
  for await (const page of store.documents()) {
    for (const slice of slices(page)) {
      yield planJobs(await Promise.all(slice.map((entry) => known(store, entry, names))), rules);
      await nextTurn();
    }
  }
  for (const slice of slices([...names])) {
    yield planJobs(await Promise.all(slice.map(([key, identity]) => unseen(store, key, identity))), rules);
    await nextTurn();
  }
}

async function namesOf(store: StateReader): Promise<Map<DocumentKey, string>> {
  const names = new Map<DocumentKey, string>();
  for await (const page of store.definitions()) {
    for (const { identity } of page) names.set(documentKey(identity), identity);
    await nextTurn();
  }
  return names;
}

function* slices<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += INLINE_ROWS) yield items.slice(at, at + INLINE_ROWS);
}

/** What is left in `names` afterwards are definitions without a document. */
async function known(store: StateReader, entry: DocumentEntry, names: Map<DocumentKey, string>): Promise<StoredJob> {
  const identity = names.get(entry.key) ?? null;
  names.delete(entry.key);
  return storedJob(entry.key, entry, identity, identity === null ? undefined : await newestOf(store, identity));
}

async function unseen(store: StateReader, key: DocumentKey, identity: string): Promise<StoredJob> {
  return storedJob(key, null, identity, await newestOf(store, identity));
}

async function newestOf(store: StateReader, identity: string): Promise<StoredVersion | undefined> {
  return (await store.definitionVersions(identity)).at(-1);
}

function storedJob(
  key: DocumentKey,
  entry: DocumentEntry | null,
  identity: string | null,
  newest: StoredVersion | undefined,
): StoredJob {
  const isDefinitionIntact = newest?.isIntact ?? true;
  return {
    key,
    documentText: entry?.text ?? null,
    isDocumentIntact: entry?.isIntact ?? true,
    identity,
    definitionText: isDefinitionIntact ? (newest?.text ?? null) : null,
    isDefinitionIntact,
  };
}
