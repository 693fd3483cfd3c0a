/** What a store holds of one job, put together of its document and the newest version of its definition. */
import type { StoredJob } from "../core/restart/resting.js";
import { documentKey } from "./keys.js";
import type { DocumentEntry, StoredVersion } from "./store.js";

/** `prefix`: the digits that the key begins with. Of a damaged version only an identity is believed that belongs to them. */
export function storedJob(document: DocumentEntry | null, newest: StoredVersion | null, prefix: string): StoredJob {
  const isDefinitionIntact = newest === null || newest.isIntact;
  const isKnown = newest !== null && (isDefinitionIntact || documentKey(newest.identity).startsWith(prefix));
  const identity = isKnown ? newest.identity : null;
  return {
    key: document?.key ?? (identity === null ? "" : documentKey(identity)),
    documentText: document?.text ?? null,
    isDocumentIntact: document?.isIntact ?? true,
    identity,
    definitionText: isDefinitionIntact ? (newest?.text ?? null) : null,
    isDefinitionIntact,
  };
}
