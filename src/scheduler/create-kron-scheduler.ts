/** What goes beyond the specification, apart from it: the `kron` dialect, zones of tasks, questions and runs by hand. */
import { Lifecycle } from "./lifecycle.js";
import type { KronRegistration, KronScheduler, SchedulerOptions } from "./types.js";

/**
 * A scheduler like that of `createScheduler`, whose expressions are of the `kron` dialect (steps, names, macros), whose
 * tasks may have a zone of their own, and which can be asked and told more. Everything else is the same, the store too.
 *
 * @example
 * ```ts
 * import { createKronScheduler, memoryStore } from "kron/scheduler";
 *
 * const scheduler = createKronScheduler({ store: memoryStore(), timeZone: "Europe/Berlin" });
 * await scheduler.initialize([
 *   ["sync", "0-45/15 9-17 * * MON-FRI", async () => console.log("syncing"), "PT1M"],
 *   ["report", "@daily", async () => console.log("reporting"), "PT5M", { timeZone: "Asia/Tokyo" }],
 * ]);
 * console.log(await scheduler.trigger("report")); // started
 * await scheduler.stop();
 * ```
 */
export function createKronScheduler(options: SchedulerOptions = {}): KronScheduler {
  const lifecycle = new Lifecycle(options, "kron");
  return Object.freeze({
    initialize: (registrations: readonly KronRegistration[]) => lifecycle.initialize(registrations),
    stop: () => lifecycle.stop(),
    nextRun: (name: string) => lifecycle.nextRun(name),
    trigger: (name: string) => lifecycle.trigger(name),
  });
}
