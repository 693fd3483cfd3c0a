/**
 * One way to the records, whatever the store offers.
 *
 * The store is the source of truth: every transaction reads what it decides about, and nothing is ever written back that
 * was not read in the same transaction. Yet a million tasks must not be read every minute. Both hold because the
 * timeline only says which records to read, and a store that reaches single records (`byName`) counts its changes: as
 * long as the count is explained by our own transactions, records that are not due cannot have become due. When it is
 * not, or when the store has only `transact`, everything is read anew: slower, never wrong.
 */
import { SCHEDULER_LIMITS } from "./limits.js";
import type { StoredTaskRecord, TaskRecord, TaskRecordChanges, TaskRecordsByName, TaskStore } from "./types.js";

/** The records inside one transaction. */
interface RecordView {
  /** Whether records may have changed behind our back since our last transaction: then all of them must be looked at. */
  readonly isForeign: boolean;
  get(name: string): unknown;
  all(): Iterable<StoredTaskRecord>;
}

export interface RecordAccess {
  /** How many records had better be changed by one transaction. */
  readonly tasksPerTransaction: number;
  /** Whether it is certain, without a transaction, that nobody else changed anything since our last one. */
  isUndisturbed(): boolean;
  /**
   * Our transactions happen one after the other. `update` must not have effects: a store may call it more than once,
   * and what it returned holds only when the promise resolves.
   */
  transact<T>(update: (view: RecordView) => TaskRecordChanges<T>): Promise<T>;
}

/** Runs asynchronous actions strictly one after the other, in the order in which they came. */
export class Line {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(action: () => Promise<T>): Promise<T> {
    const outcome = this.#tail.then(action);
    // Results may be large: only the order is kept.
    this.#tail = outcome.then(
      () => {},
      () => {},
    );
    return outcome;
  }
}

export function hasChanges(changes: TaskRecordChanges<unknown>): boolean {
  return (changes.put?.length ?? 0) > 0 || (changes.remove?.length ?? 0) > 0;
}

class AccessByName implements RecordAccess {
  readonly tasksPerTransaction = SCHEDULER_LIMITS.tasksPerTransaction;
  readonly #records: TaskRecordsByName;
  readonly #line = new Line();
  #expectedRevision = Number.NaN;

  constructor(records: TaskRecordsByName) {
    this.#records = records;
  }

  isUndisturbed(): boolean {
    return this.#records.revision() === this.#expectedRevision;
  }

  transact<T>(update: (view: RecordView) => TaskRecordChanges<T>): Promise<T> {
    return this.#line.run(async () => {
      let nextRevision = Number.NaN;
      const result = await this.#records.transact((view) => {
        const isForeign = view.revision !== this.#expectedRevision;
        const changes = update({ isForeign, get: (name) => view.get(name), all: () => view.all() });
        nextRevision = view.revision + (hasChanges(changes) ? 1 : 0);
        return changes;
      });
      this.#expectedRevision = nextRevision;
      return result;
    });
  }
}

/** The task to which a stored record claims to belong. */
export function nameOf(raw: unknown): string | null {
  return typeof raw === "object" && raw !== null && "name" in raw && typeof raw.name === "string" ? raw.name : null;
}

class WholeView implements RecordView {
  readonly isForeign = true;
  readonly #records: readonly unknown[];
  #byName: Map<string, unknown> | null = null;

  constructor(records: readonly unknown[]) {
    this.#records = records;
  }

  get(name: string): unknown {
    this.#byName ??= this.#index();
    return this.#byName.get(name);
  }

  *all(): Iterable<StoredTaskRecord> {
    for (const raw of this.#records) yield { name: nameOf(raw), raw };
  }

  #index(): Map<string, unknown> {
    const byName = new Map<string, unknown>();
    for (const raw of this.#records) {
      const name = nameOf(raw);
      if (name !== null && !byName.has(name)) byName.set(name, raw);
    }
    return byName;
  }
}

/** The complete new set. What names no task stays where it is: it is not ours to delete. */
function withChanges(records: readonly TaskRecord[], changes: TaskRecordChanges<unknown>): readonly TaskRecord[] {
  const put = new Map((changes.put ?? []).map((record) => [record.name, record]));
  const gone = new Set(changes.remove);
  const kept: TaskRecord[] = [];
  for (const record of records) {
    const name = nameOf(record);
    const replacement = name === null ? undefined : put.get(name);
    if (replacement !== undefined && name !== null) {
      kept.push(replacement);
      put.delete(name);
      gone.add(name);
    } else if (name === null || !gone.has(name)) kept.push(record);
  }
  return [...kept, ...put.values()];
}

class WholeAccess implements RecordAccess {
  /** Every transaction writes everything. */
  readonly tasksPerTransaction = Number.POSITIVE_INFINITY;
  readonly #store: TaskStore;
  readonly #line = new Line();

  constructor(store: TaskStore) {
    this.#store = store;
  }

  isUndisturbed(): boolean {
    return false;
  }

  transact<T>(update: (view: RecordView) => TaskRecordChanges<T>): Promise<T> {
    return this.#line.run(async () =>
      this.#store.transact((records) => {
        const changes = update(new WholeView(records));
        const { result } = changes;
        return hasChanges(changes) ? { records: withChanges(records, changes), result } : { result };
      }),
    );
  }
}

export function accessTo(store: TaskStore): RecordAccess {
  return store.byName === undefined ? new WholeAccess(store) : new AccessByName(store.byName);
}
