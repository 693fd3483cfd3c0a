import { createScheduler, nextOccurrence } from "kron/scheduler";

const invoice = async () => console.log("writing invoices");

const scheduler = createScheduler({ timeZone: "Europe/London" });
await scheduler.initialize([["invoice", "0 6 1 1,4,7,10 *", invoice, "PT1H"]]);

const next = nextOccurrence("0 6 1 1,4,7,10 *", Date.now(), "Europe/London");
console.log(new Date(next).toISOString());
await scheduler.stop();
