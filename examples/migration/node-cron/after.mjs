import { createScheduler, nextOccurrence } from "kron/scheduler";

const sync = async () => console.log("syncing");

const scheduler = createScheduler({ timeZone: "Europe/Berlin" });
await scheduler.initialize([["sync", "0,15,30,45 9-17 * * 1-5", sync, "PT1M"]]);

const next = nextOccurrence("0,15,30,45 9-17 * * 1-5", Date.now(), "Europe/Berlin");
console.log(new Date(next).toISOString());
await scheduler.stop();
