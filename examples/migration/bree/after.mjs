import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { createScheduler, nextOccurrence } from "kron/scheduler";

/** A worker thread, as Bree starts one; a promise that rejects is a failed run, and is retried. */
async function reindex() {
  const worker = new Worker("console.log('reindexing')", { eval: true });
  const [code] = await once(worker, "exit");
  if (code !== 0) throw new Error(`the worker ended with ${code}`);
}

const scheduler = createScheduler({ timeZone: "UTC" });
await scheduler.initialize([["reindex", "0,30 2 * * 0", reindex, "PT30M"]]);

const next = nextOccurrence("0,30 2 * * 0", Date.now(), "UTC");
console.log(new Date(next).toISOString());
await scheduler.stop();
