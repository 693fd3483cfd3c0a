/**
 * A survey of what the daemon before has left: the rows of jobs that rested, as they were. What it has said nothing of is
 * read: the others that it had, and jobs that are wanted and that it did not have, of which something may be on record all
 * the same, because they were removed once (S16).
 */
import { type PlanRules, planJob } from "../../../core/restart/resting.js";
import type { EpochMs } from "../../../core/time/instant.js";
import { areDefinitionsKnown } from "../../../persist/definition-reader.js";
import { documentKey } from "../../../persist/keys.js";
import type { StateReader, StateStore } from "../../../persist/store.js";
import { storedJob } from "../../../persist/stored-job.js";
import { PageBuilder } from "../../pool/page-builder.js";
import { turnOfLoop } from "../../turns.js";
import { readFarewell } from "./farewell.js";
import type { Survey } from "./survey.js";

/** Read for one page, before everything else has its turn. */
const READ_TOGETHER = 256;
/** Times as many as are known: then it is quicker to read all that is on record than to look for each that is wanted. */
const MOST_WANTED = 2;

/**
 * How many jobs rest on without a look at what is on record of them; null: nothing was left that counts, and nothing was
 * taken. `onCount` as in `PlanOptions`.
 */
export async function takeLeft(
  store: StateStore,
  survey: Survey,
  { now, onCount }: { readonly now: EpochMs; readonly onCount: (jobs: number) => void },
): Promise<number | null> {
  const words = store.farewell?.take() ?? null;
  const left = words === null ? null : readFarewell(words, now);
  if (left === null) return null;
  const { page, unsaid } = left;
  const known = page.count + unsaid.length;
  if (survey.wantedCount > MOST_WANTED * known) return null;
  onCount(known);
  await survey.take(page);
  const unread = survey.restingCount;
  const rules = { now, isChecked: store.isChecked, isCurrent: await areDefinitionsKnown(store) };
  await takeRead(unsaid, store, survey, rules);
  // What cannot be used is not seen, and is told of once.
  const read = new Set(unsaid);
  const unseen = (await survey.unseen()).filter((identity) => !read.has(identity));
  await takeRead(unseen, store, survey, rules);
  return unread;
}

async function takeRead(
  identities: readonly string[],
  store: StateReader,
  survey: Survey,
  rules: PlanRules,
): Promise<void> {
  for (let from = 0; from < identities.length; from += READ_TOGETHER) {
    const page = new PageBuilder(READ_TOGETHER);
    for (const identity of identities.slice(from, from + READ_TOGETHER)) await addRead(identity, store, page, rules);
    await survey.take(page.page());
    await turnOfLoop();
  }
}

async function addRead(identity: string, store: StateReader, page: PageBuilder, rules: PlanRules): Promise<void> {
  const [document = null, newest = null] = [await store.get(identity), await store.newestVersion(identity)];
  if (document === null && newest === null) return;
  const key = documentKey(identity);
  page.add(planJob(storedJob(document, newest, key), rules), key);
}
