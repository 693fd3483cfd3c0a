import { createScheduler, nextOccurrence } from "kron/scheduler";

const report = async () => console.log("reporting");

const scheduler = createScheduler({ timeZone: "Asia/Tokyo" });
await scheduler.initialize([["report", "30 9 * * 1", report, "PT5M"]]);

const next = nextOccurrence("30 9 * * 1", Date.now(), "Asia/Tokyo");
console.log(new Date(next).toISOString());
await scheduler.stop();
