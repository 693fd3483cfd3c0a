/**
 * The port of everything Kron remembers: one document per identity, the ledger, the definitions in all their versions,
 * and a few notes about the store itself. Texts go in and come out; what they mean is the business of the core.
 *
 * A commit is one durable transaction: when its promise resolves, all of the batch survives a power cut; when the
 * process dies before, all of it or none of it is there. It can come to no good end in three ways:
 * - refused: somebody else has what the batch claims. Nothing of it was written, and that is the answer, not an error.
 * - in doubt: contact was lost on the way. That is the store's own business: it asks until it knows.
 * - poisoned: whether the batch will be seen after the next start is unknown and stays so; nothing may be written, and
 *   nothing be started, from then on.
 *
 * A read sees all of a batch or nothing of it, and all of it once its promise has resolved.
 */
import type { KronError } from "../core/base/errors/kron-error.js";
import type { Result } from "../core/base/result.js";
import type { StoredJob } from "../core/restart/resting.js";
import type { EpochMs } from "../core/time/instant.js";
import type { KeyRange } from "./key-range.js";
import type { DocumentKey } from "./keys.js";
import type { LockTerm } from "./lock.js";
import type { BackendName } from "./marker.js";

/** A document as it lies in the store. */
export interface DocumentEntry {
  readonly key: DocumentKey;
  readonly text: string;
  /** Whether the text is the one that was written under this key. Treat a damaged text as unreadable (S32). */
  readonly isIntact: boolean;
}

export interface DocumentWrite {
  readonly key: DocumentKey;
  /** null removes the document. Removing a job does not: its document stays, so that adding it again repeats nothing. */
  readonly text: string | null;
}

/** A record's name: writing the same one again replaces it, as a completion replaces the record of its start. */
export interface LedgerKey {
  readonly identity: string;
  /** The instant the record is about: of a period its nominal time. */
  readonly at: EpochMs;
  /** What the record is, such as `period` or `slot:manual`: small letters, digits, `_`, `:`, `.`, `-`. */
  readonly kind: string;
}

export interface LedgerRecord extends LedgerKey {
  readonly text: string;
}

export interface StoredRecord extends LedgerRecord {
  readonly isIntact: boolean;
}

/** A definition from the instant at which it came into force. */
export interface DefinitionVersion {
  readonly identity: string;
  readonly definedAt: EpochMs;
  /** null from the removal of the job on. */
  readonly text: string | null;
}

export interface StoredVersion extends DefinitionVersion {
  readonly isIntact: boolean;
}

export interface DefinitionKey {
  readonly identity: string;
  readonly definedAt: EpochMs;
}

/** The daemon that started at `bootedAt` was alive at `at`. The gaps between spans are the times it was down. */
export interface AliveSpan {
  readonly bootedAt: EpochMs;
  readonly at: EpochMs;
}

export interface MetaWrite {
  /** Small letters, digits, `_`, `.`, `-`. */
  readonly key: string;
  /** null removes the entry. */
  readonly text: string | null;
}

/**
 * What a host keeps beside its jobs under names of its own, such as keys and tenants; as many as it likes. Names are small
 * letters, digits and `_ . / ~ : -`, and sort as their bytes do.
 */
export interface ObjectWrite {
  readonly key: string;
  /** null removes it. */
  readonly text: string | null;
}

export interface StoredObject extends ObjectWrite {
  readonly text: string;
  readonly isIntact: boolean;
}

/** A stretch of objects: those whose names begin so, behind one of them. */
export interface ObjectsAsked {
  readonly prefix: string;
  readonly after?: string;
  readonly limit: number;
}

/** A note that is there. */
export interface Note extends MetaWrite {
  readonly text: string;
}

/** That a run is this store's to start: whoever writes its record first has it, for all time. */
export interface Claim {
  /** Of a record in the same batch, which must be new; claims are in the order of their records. */
  readonly key: LedgerKey;
  /** Who claims it: the attempt. */
  readonly token: string;
}

/** What becomes durable together, or not at all. */
export interface Batch {
  readonly documents?: readonly DocumentWrite[];
  readonly ledger?: readonly LedgerRecord[];
  readonly definitions?: readonly DefinitionVersion[];
  readonly meta?: readonly MetaWrite[];
  readonly objects?: readonly ObjectWrite[];
  readonly alive?: AliveSpan;
  readonly claims?: readonly Claim[];
  readonly removed?: {
    readonly ledger?: readonly LedgerKey[];
    readonly definitions?: readonly DefinitionKey[];
    /** Spans by their `bootedAt`. */
    readonly alive?: readonly EpochMs[];
  };
}

/** Where a scan of the ledger goes on; opaque. */
export type LedgerCursor = string;

export interface LedgerPage {
  /** Identity after identity, each one newest first. */
  readonly records: readonly StoredRecord[];
  /** null at the end. */
  readonly next: LedgerCursor | null;
}

export interface StoreCounts {
  readonly documents: number;
  readonly ledger: number;
  readonly definitions: number;
}

/** A store as another thread of this process finds it. */
export interface StoreSource {
  readonly backend: BackendName;
  /** A directory. */
  readonly at: string;
}

export interface StateReader {
  /** Tells one store from every other; never changes. */
  readonly storeId: string;
  /** Whether its texts carry checksums: an intact one is then one that Kron has written. */
  readonly isChecked: boolean;
  /** null: no other thread can read it. */
  readonly source: StoreSource | null;
  /** What iterations and counts are about. */
  readonly range: KeyRange;
  /** The same store, of which iterations and counts see this stretch only. It is closed with the one it was made of. */
  inRange(range: KeyRange): StateReader;

  get(identity: string): Promise<DocumentEntry | undefined>;
  /** A document as bytes: a damaged one may be no text at all. */
  bytes(key: DocumentKey): Promise<Buffer | undefined>;
  /** All documents in the order of their keys, in pages, so that a million of them never block the loop. */
  documents(): AsyncIterable<readonly DocumentEntry[]>;
  /** Every job of which there is a document or a definition, in the order of the keys, in slices: each as of one instant. */
  jobs(): AsyncIterable<readonly StoredJob[]>;

  /** The newest records of one identity, newest first; with `before`, only those about earlier instants. */
  ledgerLatest(identity: string, limit: number, before?: EpochMs): Promise<readonly StoredRecord[]>;
  /** A page of the whole ledger. Start with null. */
  ledgerScan(cursor: LedgerCursor | null, limit: number): Promise<LedgerPage>;

  /** The version in force, whatever the clock says by now: a removed job has one with text null, an unknown job has none. */
  newestVersion(identity: string): Promise<StoredVersion | undefined>;
  /** All versions of one definition, oldest first. */
  definitionVersions(identity: string): Promise<readonly StoredVersion[]>;
  /** Every version of every definition, identity after identity, each one newest first. */
  definitions(): AsyncIterable<readonly StoredVersion[]>;

  /**
   * Spans that touch `[from, to)`, oldest first: when somebody looked after this job; null: after any. A store that has one
   * daemon at a time answers the same for every job.
   */
  aliveSpans(identity: string | null, from: EpochMs, to: EpochMs): Promise<readonly AliveSpan[]>;
  meta(key: string): Promise<string | undefined>;
  notes(): Promise<readonly Note[]>;
  object(key: string): Promise<StoredObject | undefined>;
  /** In the order of their names; every view of a store has them all. */
  objects(asked: ObjectsAsked): Promise<readonly StoredObject[]>;
  counts(): Promise<StoreCounts>;
  /** Bytes that all of the store takes where it lies, whatever is shown of it here; null: nobody counts them. */
  size(): Promise<number | null>;
  /** Waits for commits under way. Reading or writing afterwards is a broken invariant. */
  close(): Promise<void>;
}

/** C12: that the clocks of servers of one database may be apart. */
export const CLOCKS_APART_MS = 5_000;

/** C12: another server may have taken over, which may have forgotten what was confirmed last. */
export interface FailoverFence {
  /** What was due up to then and is not on record counts as handled, before anything is begun. null: nothing was forgotten. */
  dueUpTo(): Promise<EpochMs | null>;
  /** Up to when it counts so, wherever that was put on record already. null: no other server ever took over. */
  upTo(): Promise<EpochMs | null>;
  /** Of all jobs that this view of the store shows. */
  settled(term: LockTerm, upToAt: EpochMs): Promise<void>;
}

export interface StateStore extends StateReader {
  inRange(range: KeyRange): StateStore;
  /** Absent: there is one server, or none. */
  readonly failover?: FailoverFence;
  /**
   * The claims that were refused because somebody else has them: if there is any, nothing of the batch was written.
   * Rejects with `state-write-failed`, which is fatal, and from then on every commit does. Batches are applied in the
   * order of the calls; those that wait for an earlier one become durable together. A released term throws at once.
   */
  commit(term: LockTerm, batch: Batch): Promise<readonly Claim[]>;
  /**
   * Drops what the ledger holds about earlier instants, as far as it lies in pieces that can go as a whole; the rest is for a
   * sweep. `along` says what goes with records that are to be dropped. How many pieces it were.
   */
  dropLedger(term: LockTerm, before: EpochMs, along: (records: readonly StoredRecord[]) => Batch): Promise<number>;
  /** While a store is marked so, it is being filled from elsewhere, and opening it is refused. */
  markLoading(term: LockTerm, isLoading: boolean): Promise<void>;
  /** Absent: whoever opens it next works everything out anew. */
  readonly farewell?: FarewellPort;
}

/**
 * What whoever closes a store tells whoever opens it next. It is there only if nobody has touched the store in between, and
 * every document and definition is as it was written.
 */
export interface FarewellPort {
  /** What was left; null: nothing that could be believed, or it was taken already. */
  take(): Buffer | null;
  /** Written when the store is closed, unless a document or a definition is changed until then. */
  leave(term: LockTerm, words: readonly Uint8Array[]): void;
}

export type OpenedStore = Result<StateStore, KronError>;

/** Entries that one page of an iteration holds at most. */
export const PAGE_SIZE = 1_000;

/** Jobs that one slice is meant to have: what becomes of them takes some two milliseconds. */
export const SLICE_JOBS = 256;

/** The newest version of every job that was not removed, in pages. */
export async function* currentDefinitions(store: StateReader): AsyncGenerator<readonly StoredVersion[]> {
  let previous = "";
  for await (const page of store.definitions()) {
    const newest: StoredVersion[] = [];
    for (const version of page) {
      if (version.identity !== previous) newest.push(version);
      previous = version.identity;
    }
    yield newest.filter((version) => version.text !== null);
  }
}
