/** What the specification describes: two methods, and POSIX expressions. */
import { Lifecycle } from "./lifecycle.js";
import type { Registration, Scheduler, SchedulerOptions } from "./types.js";

/**
 * A scheduler for async functions: cron expressions in the host's zone, at most one run of a task at a time, retries
 * after a delay, and a memory that survives crashes.
 *
 * `stop` waits for running callbacks, however long they take; a callback that awaits `stop` waits for itself.
 *
 * @example
 * ```ts
 * import { createScheduler, memoryStore } from "kron/scheduler";
 *
 * const scheduler = createScheduler({ store: memoryStore() });
 * await scheduler.initialize([
 *   ["backup", "0 3 * * *", async () => console.log("backing up"), "PT10M"],
 *   ["report", "0 9 * * 1-5", async () => console.log("reporting"), "PT1M"],
 * ]);
 * await scheduler.stop();
 * ```
 */
export function createScheduler(options: SchedulerOptions = {}): Scheduler {
  const lifecycle = new Lifecycle(options, "posix");
  return Object.freeze({
    initialize: (registrations: readonly Registration[]) => lifecycle.initialize(registrations),
    stop: () => lifecycle.stop(),
  });
}
