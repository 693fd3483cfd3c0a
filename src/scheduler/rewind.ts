/** Brings back to the present what was written while the clock ran ahead. A decision of a person, made between two runs. */
import { rewoundRecord } from "./ahead.js";
import { accessTo } from "./record-access.js";
import { isTombstone, isWellFormed } from "./records.js";
import type { TaskRecord, TaskStore } from "./types.js";

/**
 * Rewinds every record that lies ahead of `now`, as if what it remembers had happened now, and returns the names of the
 * tasks. To be called while no scheduler uses the store; records that cannot be read are left alone.
 *
 * @example
 * ```ts
 * import { memoryStore, rewindTasks } from "kron/scheduler";
 *
 * const store = memoryStore(); // or lmdbStore("./kron-scheduler")
 * console.log(await rewindTasks(store)); // []
 * ```
 */
export async function rewindTasks(store: TaskStore, now: number = Date.now()): Promise<readonly string[]> {
  if (!Number.isSafeInteger(now)) throw new RangeError("not an instant: expected whole epoch milliseconds");
  try {
    return await accessTo(store).transact((view) => {
      const put: TaskRecord[] = [];
      for (const { raw } of view.all()) {
        if (!isWellFormed(raw)) continue;
        const rewound = rewoundRecord(raw, now);
        if (rewound !== raw) put.push(rewound);
      }
      return { put, result: put.filter((record) => !isTombstone(record)).map(({ name }) => name) };
    });
  } finally {
    await store.release?.();
  }
}
