/** What a start asks of every job on record, computed on this thread: where nobody has given the supervisor a pool. */
import type { StateReader } from "../../../persist/store.js";
import { planStore } from "../../pool/plan-inline.js";
import type { PlanOptions } from "../../pool/types.js";

export async function planHere(store: StateReader, { now, onPage }: PlanOptions): Promise<void> {
  // Nothing is taken on trust: whoever wrote the store, every document is read in full.
  for await (const page of planStore(store, { now, isChecked: false, isCurrent: false })) await onPage(page);
}
