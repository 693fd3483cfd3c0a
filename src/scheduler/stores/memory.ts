/** A task store that lives as long as its process: for tests, and for tasks whose history does not matter. */
import { hasChanges, nameOf } from "../record-access.js";
import type { StoredTaskRecord, TaskRecord, TaskRecordChanges, TaskStore } from "../types.js";

/** Holds copies: what a caller does to its objects later changes nothing here. */
class MemoryRecords {
  revision = 0;
  #records = new Map<string, TaskRecord>();
  /** What names no task, or a name that is taken, is kept as it came. */
  #strays: TaskRecord[] = [];

  get(name: string): unknown {
    return this.#records.get(name);
  }

  *all(): Iterable<StoredTaskRecord> {
    for (const [name, raw] of this.#records) yield { name, raw };
    for (const raw of this.#strays) yield { name: nameOf(raw), raw };
  }

  list(): readonly TaskRecord[] {
    return [...this.#records.values(), ...this.#strays];
  }

  replaceAll(records: readonly TaskRecord[]): void {
    this.#records = new Map();
    this.#strays = [];
    for (const record of records) {
      const name = nameOf(record);
      if (name === null || this.#records.has(name)) this.#strays.push(record);
      else this.#records.set(name, Object.freeze({ ...record }));
    }
    this.revision++;
  }

  apply(changes: TaskRecordChanges<unknown>): void {
    if (!hasChanges(changes)) return;
    const { put = [], remove = [] } = changes;
    if (this.#strays.length > 0) {
      const names = new Set([...remove, ...put.map((record) => record.name)]);
      this.#strays = this.#strays.filter((raw) => !names.has(nameOf(raw) ?? ""));
    }
    for (const name of remove) this.#records.delete(name);
    for (const record of put) this.#records.set(record.name, Object.freeze({ ...record }));
    this.revision++;
  }
}

/**
 * Keeps task records in memory. It may be handed from one scheduler to the next, as a disk would be.
 *
 * @example
 * ```ts
 * import { createScheduler, memoryStore } from "kron/scheduler";
 *
 * const scheduler = createScheduler({ store: memoryStore() });
 * await scheduler.initialize([["hello", "0 9 * * *", async () => console.log("good morning"), "PT5M"]]);
 * await scheduler.stop();
 * ```
 */
export function memoryStore(records: readonly TaskRecord[] = []): TaskStore {
  const memory = new MemoryRecords();
  if (records.length > 0) memory.replaceAll(records);
  // Updates are synchronous, so transactions cannot overlap.
  return {
    transact: async (update) => {
      const change = update(memory.list());
      if (change.records !== undefined) memory.replaceAll(change.records);
      return change.result;
    },
    byName: {
      revision: () => memory.revision,
      transact: async (update) => {
        const { revision } = memory;
        const changes = update({ revision, get: (name) => memory.get(name), all: () => memory.all() });
        memory.apply(changes);
        return changes.result;
      },
    },
  };
}
