/** What a start asks of every job on record, computed on this thread in one page: for stores of a few jobs. */

import { documentKey } from "../../persist/keys.js";
import type { DocumentEntry, StateReader, StoredVersion } from "../../persist/store.js";
import { planJobs } from "../pool/plan-jobs.js";
import type { PlanOptions } from "../pool/types.js";

export async function planHere(store: StateReader, { now, onPage }: PlanOptions): Promise<void> {
  const documents = new Map<string, DocumentEntry>();
  for await (const page of store.documents()) for (const entry of page) documents.set(entry.key, entry);
  const newest = new Map<string, StoredVersion>();
  for await (const page of store.definitions()) {
    for (const version of page) {
      const key = documentKey(version.identity);
      if (!newest.has(key)) newest.set(key, version);
    }
  }
  const keys = [...new Set([...documents.keys(), ...newest.keys()])].sort();
  const jobs = keys.map((key) => {
    const [document, version] = [documents.get(key), newest.get(key)];
    return {
      key,
      documentText: document?.text ?? null,
      isDocumentIntact: document?.isIntact ?? true,
      identity: version?.identity ?? null,
      definitionText: version?.text ?? null,
      isDefinitionIntact: version?.isIntact ?? true,
    };
  });
  await onPage(planJobs(jobs, { now, isChecked: true, isCurrent: true }));
}
