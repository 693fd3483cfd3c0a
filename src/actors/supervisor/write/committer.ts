/**
 * Group commit: everything that is handed in while a transaction is under way goes into the next one together. One
 * writer, batches in order, and after a failure never another word: whether the failed batch will be seen after the next
 * start is unknown (S31). Jobs that somebody else has claimed are left out of a batch, and whoever wrote of them is told.
 */
import type { StateDocument } from "../../../core/state/document.js";
import { documentKey } from "../../../persist/keys.js";
import type { LockTerm } from "../../../persist/lock.js";
import type {
  Batch,
  Claim,
  DefinitionVersion,
  DocumentWrite,
  LedgerRecord,
  MetaWrite,
  StateStore,
} from "../../../persist/store.js";
import type { Clock, Timer } from "../../clock.js";
import { documentWrite, type JobObject } from "./contribution.js";
import { aboutBatch } from "./failed-batch.js";

export interface Contribution extends Omit<Batch, "meta" | "objects" | "removed"> {
  readonly notes?: readonly JobNote[];
  readonly objects?: readonly JobObject[];
}

/** A note that stands or falls with what is written of its job. */
export interface JobNote extends MetaWrite {
  readonly identity: string;
}

interface Waiter {
  readonly resolve: (refused: readonly Claim[]) => void;
  readonly reject: (error: unknown) => void;
}

/** By the names of their jobs. */
type Kept = Pick<Gathering, "notes" | "objects">;

interface Gathering {
  /** By key: of several versions of one document only the last is worth writing. */
  readonly documents: Map<string, DocumentWrite>;
  readonly ledger: LedgerRecord[];
  readonly definitions: DefinitionVersion[];
  alive: Batch["alive"];
  readonly claims: Claim[];
  readonly notes: JobNote[];
  readonly objects: JobObject[];
  readonly waiters: Waiter[];
}

/** Who is told in one turn of the loop that a batch is durable: each of them goes on at once with what comes next. */
const TOLD_PER_TURN = 8;
/** Most runs have ended by then, and their end says all there is to say. */
const UNHURRIED_MS = 1_000;

function newGathering(): Gathering {
  const lists = { ledger: [], definitions: [], claims: [], notes: [], objects: [], waiters: [] };
  return { documents: new Map(), alive: undefined, ...lists };
}

export class Committer {
  #gathering: Gathering | null = null;
  #isWriting = false;
  #telling = 0;
  /**
   * By key: versions that nobody waits for. Each one is newer than what is being gathered, and most give way to a newer one
   * before they are ever written: they become texts only then.
   */
  readonly #unhurried = new Map<string, StateDocument>();
  #timer: Timer | null = null;
  #failure: unknown = null;
  readonly #store: StateStore;
  readonly #term: LockTerm;
  readonly #clock: Clock;
  readonly #onFailure: (error: unknown) => void;
  readonly #onUnhurried: () => void;

  constructor(
    store: StateStore,
    term: LockTerm,
    clock: Clock,
    onFailure: (error: unknown) => void,
    /** What is in no hurry has waited long enough: another batch is to be added. */
    onUnhurried: () => void,
  ) {
    this.#store = store;
    this.#term = term;
    this.#clock = clock;
    this.#onFailure = onFailure;
    this.#onUnhurried = onUnhurried;
  }

  get isIdle(): boolean {
    return this.#gathering === null && !this.#isWriting && this.#telling === 0;
  }

  /** Resolves when it is durable, but for the jobs of these claims: somebody else has them, and of them nothing was written. */
  add({
    documents = [],
    ledger = [],
    definitions = [],
    alive,
    claims = [],
    notes = [],
    objects = [],
  }: Contribution): Promise<readonly Claim[]> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const gathering = this.#gathering ?? newGathering();
    for (const write of documents) {
      gathering.documents.set(write.key, write);
      this.#unhurried.delete(write.key);
    }
    gathering.ledger.push(...ledger);
    gathering.definitions.push(...definitions);
    gathering.claims.push(...claims);
    gathering.notes.push(...notes);
    gathering.objects.push(...objects);
    if (alive !== undefined) gathering.alive = alive;
    if (this.#gathering === null) {
      this.#gathering = gathering;
      // After this turn of the loop: jobs that are due together are written together.
      if (!this.#isWriting) setImmediate(() => void this.#write());
    }
    return new Promise((resolve, reject) => gathering.waiters.push({ resolve, reject }));
  }

  /** Becomes durable with the next batch, or by itself after a while; the next version of the document takes its place. */
  addUnhurried(document: StateDocument): void {
    if (this.#failure !== null) return;
    this.#unhurried.set(documentKey(document.Identity), document);
    this.#timer ??= this.#clock.after(UNHURRIED_MS, () => {
      this.#timer = null;
      if (this.#unhurried.size > 0) this.#onUnhurried();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#gathering !== null && this.#failure === null) {
      const { waiters, documents, ledger, definitions, alive, claims, notes, objects } = this.#gathering;
      this.#gathering = null;
      for (const [key, document] of this.#unhurried) documents.set(key, documentWrite(document));
      this.#unhurried.clear();
      const batch = {
        documents: [...documents.values()],
        ledger,
        definitions,
        ...(alive === undefined ? {} : { alive }),
        ...(claims.length === 0 ? {} : { claims }),
        ...(notes.length === 0 ? {} : { meta: notes }),
        ...(objects.length === 0 ? {} : { objects }),
      };
      try {
        this.#tell(waiters, await this.#written(batch, { notes, objects }), 0);
      } catch (error) {
        const failure = aboutBatch(error, batch);
        this.#failure = failure;
        refuse(waiters, failure);
        this.#onFailure(failure);
      }
    }
    this.#isWriting = false;
    if (this.#gathering !== null) refuse(this.#gathering.waiters, this.#failure);
  }

  /** Each round has a claim less. */
  async #written(batch: Batch, { notes, objects }: Kept): Promise<readonly Claim[]> {
    const refused = await this.#store.commit(this.#term, batch);
    if (refused.length === 0) return refused;
    const theirs = new Set(refused.map(({ key }) => key.identity));
    const isFree = ({ identity }: { readonly identity: string }): boolean => !theirs.has(identity);
    const left = { notes: notes.filter(isFree), objects: objects.filter(isFree) };
    const rest = withoutJobs({ ...batch, meta: left.notes, objects: left.objects }, refused);
    return [...refused, ...(await this.#written(rest, left))];
  }

  #tell(waiters: readonly Waiter[], refused: readonly Claim[], from: number): void {
    const end = from + TOLD_PER_TURN;
    for (const { resolve } of waiters.slice(from, end)) resolve(refused);
    if (end >= waiters.length) return;
    this.#telling += 1;
    setImmediate(() => {
      this.#telling -= 1;
      this.#tell(waiters, refused, end);
    });
  }
}

/** What is written of a job goes by its claim. */
function withoutJobs(batch: Batch, refused: readonly Claim[]): Batch {
  const identities = new Set(refused.map(({ key }) => key.identity));
  const keys = new Set<string>([...identities].map(documentKey));
  const isFree = ({ identity }: { readonly identity: string }): boolean => !identities.has(identity);
  return {
    ...batch,
    documents: (batch.documents ?? []).filter(({ key }) => !keys.has(key)),
    ledger: (batch.ledger ?? []).filter(isFree),
    definitions: (batch.definitions ?? []).filter(isFree),
    claims: (batch.claims ?? []).filter(({ key }) => isFree(key)),
  };
}

function refuse(waiters: readonly Waiter[], error: unknown): void {
  for (const { reject } of waiters) reject(error);
}
