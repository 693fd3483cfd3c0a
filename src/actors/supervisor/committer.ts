/**
 * Group commit: everything that is handed in while a transaction is under way goes into the next one together. One
 * writer, batches in order, and after a failure never another word: whether the failed batch will be seen after the next
 * start is unknown (S31).
 */
import type { LockTerm } from "../../persist/lock.js";
import type { Batch, DefinitionVersion, DocumentWrite, LedgerRecord, StateStore } from "../../persist/store.js";

export interface Contribution {
  readonly documents?: readonly DocumentWrite[];
  readonly ledger?: readonly LedgerRecord[];
  readonly definitions?: readonly DefinitionVersion[];
  readonly alive?: Batch["alive"];
}

interface Gathering {
  /** By key: of several versions of one document only the last is worth writing. */
  readonly documents: Map<string, DocumentWrite>;
  readonly ledger: LedgerRecord[];
  readonly definitions: DefinitionVersion[];
  alive: Batch["alive"];
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

function newGathering(): Gathering {
  const { promise: done, resolve, reject } = deferred();
  // Whoever contributed hears of a failure; a batch that nobody waits for must not end the process by itself.
  done.catch(() => {});
  return { documents: new Map(), ledger: [], definitions: [], alive: undefined, done, resolve, reject };
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let resolve = (): void => {};
  let reject = (_error: unknown): void => {};
  const promise = new Promise<void>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}

export class Committer {
  private gathering: Gathering | null = null;
  private isWriting = false;
  private failure: unknown = null;

  constructor(
    private readonly store: StateStore,
    private readonly term: LockTerm,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  get isIdle(): boolean {
    return this.gathering === null && !this.isWriting;
  }

  /** Resolves when it is durable. */
  add({ documents = [], ledger = [], definitions = [], alive }: Contribution): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure);
    const gathering = this.gathering ?? newGathering();
    for (const write of documents) gathering.documents.set(write.key, write);
    gathering.ledger.push(...ledger);
    gathering.definitions.push(...definitions);
    if (alive !== undefined) gathering.alive = alive;
    if (this.gathering === null) {
      this.gathering = gathering;
      // After this turn of the loop: jobs that are due together are written together.
      if (!this.isWriting) setImmediate(() => void this.write());
    }
    return gathering.done;
  }

  private async write(): Promise<void> {
    this.isWriting = true;
    while (this.gathering !== null && this.failure === null) {
      const { documents, ledger, definitions, alive, resolve, reject } = this.gathering;
      this.gathering = null;
      const batch = {
        documents: [...documents.values()],
        ledger,
        definitions,
        ...(alive === undefined ? {} : { alive }),
      };
      try {
        await this.store.commit(this.term, batch);
        resolve();
      } catch (error) {
        this.failure = error;
        reject(error);
        this.onFailure(error);
      }
    }
    this.isWriting = false;
    this.gathering?.reject(this.failure);
  }
}
