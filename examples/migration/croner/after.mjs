import { createScheduler, nextOccurrence } from "kron/scheduler";

const backup = async () => console.log("backing up");

const scheduler = createScheduler({
  timeZone: "America/New_York",
  onEvent: (event) => event.type === "TaskRunFailed" && console.error(event.name, event.error),
});
await scheduler.initialize([["backup", "30 3 * * *", backup, "PT10M"]]);

const next = nextOccurrence("30 3 * * *", Date.now(), "America/New_York");
console.log(new Date(next).toISOString());
await scheduler.stop();
