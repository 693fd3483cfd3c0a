import { createScheduler, nextOccurrence } from "kron/scheduler";

const backup = async () => console.log("backing up");

const clock = { now: () => Date.now(), timeZone: () => "America/New_York" };
const onEvent = (event) => event.type === "TaskRunFailed" && console.error(event.name, event.error);
const scheduler = createScheduler({ clock, onEvent });
await scheduler.initialize([["backup", "30 3 * * *", backup, "PT10M"]]);

const next = nextOccurrence("30 3 * * *", Date.now(), "America/New_York");
console.log(new Date(next).toISOString());
await scheduler.stop();
