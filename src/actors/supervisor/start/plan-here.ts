/** What a start asks of every job on record, computed on this thread: where nobody has given the supervisor a pool. */
import type { StateReader } from "../../../persist/store.js";
import { planJobs } from "../../pool/plan-jobs.js";
import type { PlanOptions } from "../../pool/types.js";

export async function planHere(store: StateReader, { now, onPage }: PlanOptions): Promise<void> {
  // Nothing is taken on trust: whoever wrote the store, every document is read in full.
  const rules = { now, isChecked: false, isCurrent: false };
  for await (const slice of store.jobs()) await onPage(planJobs(slice, rules));
}
