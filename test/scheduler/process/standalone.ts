/** Runs a task with an injected store where neither LMDB nor Piscina can be found, then tries without one. */
import { createScheduler, memoryStore } from "../../../src/scheduler/index.js";

const scheduler = createScheduler({ store: memoryStore() });
await new Promise<void>((started) => {
  void scheduler.initialize([["now", "* * * * *", async () => started(), 0]]);
});
await scheduler.stop();
console.log("ran");

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
await createScheduler({ directory: "./store", logger })
  .initialize([])
  .catch((error: Error) => console.log(error.name, (error.cause as { code?: string } | undefined)?.code));
