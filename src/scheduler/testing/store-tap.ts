/**
 * Puts something between a scheduler and its store, whichever of the two doors of a store it uses. What comes between
 * sees transactions, not records: it may delay, refuse or watch them, and never changes what they write.
 */
import type { TaskRecord, TaskRecordChanges, TaskRecordsByName, TaskStore, TaskStoreUpdate } from "../types.js";

/** What a transaction is about to do, seen from inside it. */
interface ObservedChange {
  /** False: everything will read as it did before. */
  changesAnything(): boolean;
  /** Those of the names that no scheduler will be running, as far as the store knows. */
  restingAfter(names: ReadonlySet<string>): readonly string[];
}

/** Called inside a transaction. */
interface TransactionWatch {
  /** What is about to change may still fail to become durable; false: it is dropped here. */
  changes(change: ObservedChange): boolean;
  /** The scheduler's own part of the transaction failed: no fault of the store. */
  threw?(error: unknown): void;
}

export type CarryOut<T> = (watch?: TransactionWatch) => Promise<T>;

export interface StoreTap {
  around<T>(carryOut: CarryOut<T>): Promise<T>;
  /** Inside the transaction; false: it changes nothing, and its result does not matter any more. */
  admits?(): boolean;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isBusy(record: unknown): boolean {
  return typeof record === "object" && record !== null && "runningBy" in record && typeof record.runningBy === "string";
}

function observeWhole(before: readonly TaskRecord[], change: TaskStoreUpdate<unknown>): ObservedChange {
  const after = change.records ?? before;
  return {
    changesAnything: () => change.records !== undefined && !same(before, after),
    restingAfter: (names) => {
      const busy = new Set(after.filter(isBusy).map((record) => record.name));
      return [...names].filter((name) => !busy.has(name));
    },
  };
}

function observeByName(get: (name: string) => unknown, change: TaskRecordChanges<unknown>): ObservedChange {
  const put = new Map((change.put ?? []).map((record) => [record.name, record]));
  const gone = new Set(change.remove);
  const after = (name: string): unknown => put.get(name) ?? (gone.has(name) ? undefined : get(name));
  return {
    changesAnything: () => [...put.keys(), ...gone].some((name) => !same(get(name), after(name))),
    restingAfter: (names) => [...names].filter((name) => !isBusy(after(name))),
  };
}

function watched<T, C extends { readonly result: T }>(
  update: () => C,
  describe: (change: C) => ObservedChange,
  watch: TransactionWatch | undefined,
): C | { readonly result: T } {
  try {
    const change = update();
    return watch?.changes(describe(change)) === false ? { result: change.result } : change;
  } catch (error) {
    watch?.threw?.(error);
    throw error;
  }
}

/** What a refused transaction returns: its scheduler will never see it. */
function nothing<T>(): { readonly result: T } {
  return { result: undefined as T };
}

function tapByName(records: TaskRecordsByName, tap: StoreTap): TaskRecordsByName {
  const transact: TaskRecordsByName["transact"] = (update) =>
    tap.around((watch) =>
      records.transact((view) => {
        if (tap.admits?.() === false) return nothing();
        const describe = (change: TaskRecordChanges<unknown>): ObservedChange =>
          observeByName((name) => view.get(name), change);
        return watched(() => update(view), describe, watch);
      }),
    );
  return { revision: () => records.revision(), transact };
}

/** The same store with `tap` in between; it offers single records if the store does. */
export function tapStore(store: TaskStore, tap: StoreTap): TaskStore {
  const { byName } = store;
  const transact: TaskStore["transact"] = (update) =>
    tap.around((watch) =>
      store.transact((records) => {
        if (tap.admits?.() === false) return nothing();
        return watched(
          () => update(records),
          (change) => observeWhole(records, change),
          watch,
        );
      }),
    );
  const release = async (): Promise<void> => {
    if (tap.admits?.() !== false) await store.release?.();
  };
  return { transact, release, ...(byName === undefined ? {} : { byName: tapByName(byName, tap) }) };
}
