/**
 * Reading all documents at the start (S32). An unreadable one is kept for inspection and replaced by a fenced one, so
 * that its job goes on and repeats nothing; a readable one that cannot be used refuses the start. Nothing is changed
 * before everything was looked at: a refused start leaves the state as it was.
 */
import { KronError } from "../core/errors/kron-error.js";
import type { Problem } from "../core/problem.js";
import { err, ok, type Result } from "../core/result.js";
import type { EpochMs } from "../core/time/instant.js";
import { type CorruptCopies, keepCopy } from "./corrupt-copies.js";
import type { DocumentKey } from "./keys.js";
import type { LockTerm } from "./lock.js";
import type { DocumentEntry, LedgerRecord, StateStore } from "./store.js";

/** What takes the place of an unreadable document, and the ledger's word about it. */
export interface Fenced {
  readonly text: string;
  readonly ledger: readonly LedgerRecord[];
}

export interface LoadRules<D> {
  readonly now: EpochMs;
  /** The code `state-document-corrupt` asks for a fence, every other code refuses the start. */
  readonly parse: (text: string, key: DocumentKey) => Result<D, Problem>;
  /** Whose document a key is; undefined for identities that are not configured. */
  readonly identityOf: (key: DocumentKey) => string | undefined;
  readonly fence: (identity: string) => Fenced;
  readonly copies: CorruptCopies;
  readonly visit: (document: D, key: DocumentKey) => void;
}

/** An unreadable document. Without an identity it stays where it is until its job comes back. */
export interface CorruptDocument {
  readonly key: DocumentKey;
  readonly identity: string | undefined;
  /** The file that keeps what was there; null when an earlier start kept it already. */
  readonly copy: string | null;
  readonly message: string;
}

export interface LoadReport {
  readonly loaded: number;
  readonly corrupt: readonly CorruptDocument[];
}

interface Trouble {
  readonly key: DocumentKey;
  readonly problem: Problem;
}

interface Scan {
  loaded: number;
  readonly corrupt: Trouble[];
  readonly unusable: Trouble[];
}

const CORRUPT = "state-document-corrupt";

/** Problems that one refusal lists by name. */
const LISTED_PROBLEMS = 10;

/**
 * A damaged text asks for a fence. But where the key belongs to nobody and the text is a document all the same, the key
 * may be what is damaged: then a job would be without its document, and that refuses the start.
 */
function readEntry<D>(entry: DocumentEntry, rules: LoadRules<D>): Result<D, Problem> {
  const parsed = rules.parse(entry.text, entry.key);
  if (entry.isIntact) return parsed;
  const isUnusable = !parsed.ok && parsed.error.code !== CORRUPT;
  if (isUnusable && rules.identityOf(entry.key) === undefined) return parsed;
  return err({ code: CORRUPT, message: "the text does not match its checksum", path: [] });
}

async function scan<D>(store: StateStore, rules: LoadRules<D>): Promise<Scan> {
  const found: Scan = { loaded: 0, corrupt: [], unusable: [] };
  for await (const page of store.documents()) {
    for (const entry of page) {
      const document = readEntry(entry, rules);
      if (document.ok) {
        found.loaded += 1;
        rules.visit(document.value, entry.key);
      } else {
        const isCorrupt = document.error.code === CORRUPT;
        (isCorrupt ? found.corrupt : found.unusable).push({ key: entry.key, problem: document.error });
      }
    }
  }
  return found;
}

function refusal<D>(unusable: readonly Trouble[], rules: LoadRules<D>): KronError | null {
  const [first] = unusable;
  if (first === undefined) return null;
  const lines = unusable.slice(0, LISTED_PROBLEMS).map(({ key, problem }) => {
    return `${rules.identityOf(key) ?? key}: ${problem.message}`;
  });
  const rest = unusable.length > lines.length ? [`and ${unusable.length - lines.length} more`] : [];
  const identity = rules.identityOf(first.key);
  return new KronError(first.problem.code, [...lines, ...rest].join("; "), {
    component: "persist",
    operation: "load",
    ...(identity === undefined ? {} : { identity }),
    ...(first.problem.hint === undefined ? {} : { hint: first.problem.hint }),
  });
}

async function settle<D>(
  store: StateStore,
  term: LockTerm,
  trouble: Trouble,
  rules: LoadRules<D>,
): Promise<CorruptDocument> {
  const { key, problem } = trouble;
  const identity = rules.identityOf(key);
  const isOrphanKept = identity === undefined && rules.copies.isKept(key);
  const copy = isOrphanKept ? null : await keepCopy(store, rules.copies, key, rules.now);
  if (identity !== undefined) {
    const { text, ledger } = rules.fence(identity);
    await store.commit(term, { documents: [{ key, text }], ledger });
    rules.visit(parsed(text, key, rules), key);
  }
  return { key, identity, copy, message: problem.message };
}

function parsed<D>(text: string, key: DocumentKey, rules: LoadRules<D>): D {
  const document = rules.parse(text, key);
  if (!document.ok) throw new Error(`invariant broken: a fenced document cannot be read: ${document.error.message}`);
  return document.value;
}

/** Visits every document, fenced ones included. A refusal may come after visits: it makes them void. */
export async function loadDocuments<D>(
  store: StateStore,
  term: LockTerm,
  rules: LoadRules<D>,
): Promise<Result<LoadReport, KronError>> {
  try {
    const found = await scan(store, rules);
    const refused = refusal(found.unusable, rules);
    if (refused !== null) return err(refused);
    const corrupt: CorruptDocument[] = [];
    for (const trouble of found.corrupt) corrupt.push(await settle(store, term, trouble, rules));
    return ok({ loaded: found.loaded, corrupt });
  } catch (error) {
    if (error instanceof KronError) return err(error);
    throw error;
  }
}
