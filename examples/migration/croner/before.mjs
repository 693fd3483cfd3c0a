import { Cron } from "croner";

const backup = async () => console.log("backing up");

const job = new Cron("0 30 3 * * *", { timezone: "America/New_York", protect: true, catch: console.error }, backup);

console.log(job.nextRun().toISOString());
job.stop();
