/**
 * What becomes of documents that cannot be used at the start (S32). A corrupt one is kept for inspection and replaced by
 * a fenced one, so that its job goes on and repeats nothing; any other one refuses the start, before anything is changed.
 */

import { KronError } from "../core/base/errors/kron-error.js";
import type { ErrorCode } from "../core/base/errors/registry.js";
import { err, ok, type Result } from "../core/base/result.js";
import type { EpochMs } from "../core/time/instant.js";
import { type CorruptCopies, keepCopy } from "./corrupt-copies.js";
import type { DocumentKey } from "./keys.js";
import type { LockTerm } from "./lock.js";
import type { LedgerRecord, StateStore } from "./store.js";

/** What takes the place of an unreadable document, and the ledger's word about it. */
export interface Fenced {
  readonly text: string;
  readonly ledger: readonly LedgerRecord[];
}

export interface UnusableDocument {
  readonly key: DocumentKey;
  /** undefined for identities that are not configured. */
  readonly identity: string | undefined;
  /** `state-document-corrupt` asks for a fence, every other code refuses the start. */
  readonly code: ErrorCode;
  readonly message: string;
}

interface FenceRules {
  readonly now: EpochMs;
  readonly fence: (identity: string) => Fenced;
  readonly copies: CorruptCopies;
}

/** An unreadable document. Without an identity it stays where it is until its job comes back. */
export interface CorruptDocument {
  readonly key: DocumentKey;
  readonly identity: string | undefined;
  /** The file that keeps what was there; null when an earlier start kept it already. */
  readonly copy: string | null;
  readonly message: string;
}

const CORRUPT = "state-document-corrupt";

/** Problems that one refusal lists by name. */
const LISTED_PROBLEMS = 10;

function refusal(documents: readonly UnusableDocument[]): KronError | null {
  const unusable = documents.filter(({ code }) => code !== CORRUPT);
  const [first] = unusable;
  if (first === undefined) return null;
  const lines = unusable
    .slice(0, LISTED_PROBLEMS)
    .map(({ identity, key, message }) => `${identity ?? key}: ${message}`);
  const rest = unusable.length > lines.length ? [`and ${unusable.length - lines.length} more`] : [];
  const { code, identity } = first;
  const about = { component: "persist", operation: "load", ...(identity === undefined ? {} : { identity }) } as const;
  return new KronError(code, [...lines, ...rest].join("; "), about);
}

async function settle(
  store: StateStore,
  term: LockTerm,
  { key, identity, message }: UnusableDocument,
  { copies, fence, now }: FenceRules,
): Promise<CorruptDocument> {
  const isOrphanKept = identity === undefined && copies.isKept(key);
  const copy = isOrphanKept ? null : await keepCopy(store, copies, key, now);
  if (identity !== undefined) {
    const { text, ledger } = fence(identity);
    await store.commit(term, { documents: [{ key, text }], ledger });
  }
  return { key, identity, copy, message };
}

/** Either all of them are settled, or the start is refused and none of them was touched. */
export async function settleUnusable(
  store: StateStore,
  term: LockTerm,
  documents: readonly UnusableDocument[],
  rules: FenceRules,
): Promise<Result<readonly CorruptDocument[], KronError>> {
  const refused = refusal(documents);
  if (refused !== null) return err(refused);
  try {
    const settled: CorruptDocument[] = [];
    for (const document of documents) settled.push(await settle(store, term, document, rules));
    return ok(settled);
  } catch (error) {
    if (error instanceof KronError) return err(error);
    throw error;
  }
}
