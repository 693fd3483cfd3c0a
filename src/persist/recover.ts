/**
 * The way back from a refused start (S32), taken by a person: whatever is readable is kept, and every identity, known
 * from the store or from the configuration, gets a fence, so that nothing that may have run before runs again. Until the
 * last fence is written the store counts as being filled and opens for nobody but another recovery.
 */
import { KronError } from "../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../core/base/result.js";
import { type EpochMs, formatInstant } from "../core/time/instant.js";
import type { Backend } from "./backends.js";
import { type CorruptCopies, keepCopy } from "./corrupt-copies.js";
import { type DocumentKey, documentKey } from "./keys.js";
import type { Fenced } from "./load.js";
import type { LockTerm } from "./lock.js";
import type { DocumentEntry, DocumentWrite, LedgerRecord, StateReader, StateStore } from "./store.js";

export interface FenceSubject {
  readonly key: DocumentKey;
  /** undefined for a document whose identity is not configured; its text may tell. */
  readonly identity: string | undefined;
  /** undefined when there is none, or none that is intact. */
  readonly text: string | undefined;
}

export interface RecoveryRules {
  readonly now: EpochMs;
  /** Every identity that is configured. */
  readonly identities: Iterable<string>;
  /** null leaves the document as it is. What the store still has besides stands, and is asked for. */
  readonly fence: (
    subject: FenceSubject,
    store: Pick<StateReader, "ledgerLatest" | "newestVersion">,
  ) => Promise<Fenced | null> | Fenced | null;
  readonly copies: CorruptCopies;
}

export interface RecoveryReport {
  /** Documents that were still there. */
  readonly found: number;
  readonly fenced: number;
  /** Files that could not be read and were given another name. */
  readonly movedAside: readonly string[];
  /** Copies of single documents that were damaged. */
  readonly copies: readonly string[];
}

/** Fences that become durable together. */
const FENCES_PER_COMMIT = 1_000;

class Fencing {
  readonly #store: StateStore;
  readonly #term: LockTerm;
  readonly #rules: RecoveryRules;
  readonly #copies: string[] = [];
  #documents: DocumentWrite[] = [];
  #ledger: LedgerRecord[] = [];
  #found = 0;
  #fenced = 0;

  constructor(store: StateStore, term: LockTerm, rules: RecoveryRules) {
    this.#store = store;
    this.#term = term;
    this.#rules = rules;
  }

  async run(): Promise<Omit<RecoveryReport, "movedAside">> {
    const missing = new Map([...this.#rules.identities].map((identity) => [documentKey(identity), identity]));
    const configured = new Map(missing);
    for await (const page of this.#store.documents()) {
      for (const entry of page) {
        missing.delete(entry.key);
        await this.#existing(entry, configured.get(entry.key));
      }
    }
    for (const [key, identity] of missing) await this.#fence({ key, identity, text: undefined });
    await this.#flush();
    return { found: this.#found, fenced: this.#fenced, copies: this.#copies };
  }

  async #existing(entry: DocumentEntry, identity: string | undefined): Promise<void> {
    this.#found += 1;
    if (!entry.isIntact) {
      const { copies, now } = this.#rules;
      this.#copies.push(await keepCopy(this.#store, copies, entry.key, now));
    }
    // Nobody can tell whose a damaged one was: with its copy kept, it would only refuse the next start.
    if (!entry.isIntact && identity === undefined) this.#documents.push({ key: entry.key, text: null });
    else await this.#fence({ key: entry.key, identity, text: entry.isIntact ? entry.text : undefined });
  }

  async #fence(subject: FenceSubject): Promise<void> {
    const fenced = await this.#rules.fence(subject, this.#store);
    if (fenced === null) return;
    this.#fenced += 1;
    this.#documents.push({ key: subject.key, text: fenced.text });
    this.#ledger.push(...fenced.ledger);
    if (this.#documents.length >= FENCES_PER_COMMIT) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#store.commit(this.#term, { documents: this.#documents, ledger: this.#ledger });
    this.#documents = [];
    this.#ledger = [];
  }
}

/** A point: a name with it is never taken for a document, a marker or data. */
function suffixOf(now: EpochMs): string {
  return `.damaged.${formatInstant(now).replaceAll(/[-:]/g, "")}`;
}

async function fenceAll(
  store: StateStore,
  term: LockTerm,
  rules: RecoveryRules,
): Promise<Omit<RecoveryReport, "movedAside">> {
  const report = await new Fencing(store, term, rules).run();
  await store.markLoading(term, false);
  return report;
}

/** Afterwards the store opens as usual. */
export async function recoverStore(
  term: LockTerm,
  backend: Backend,
  rules: RecoveryRules,
): Promise<Result<RecoveryReport, KronError>> {
  const opened = await backend.recover(term, suffixOf(rules.now));
  if (!opened.ok) return opened;
  const { store, movedAside } = opened.value;
  try {
    return ok({ ...(await fenceAll(store, term, rules)), movedAside });
  } catch (error) {
    if (error instanceof KronError) return err(error);
    throw error;
  } finally {
    await store.close();
  }
}
