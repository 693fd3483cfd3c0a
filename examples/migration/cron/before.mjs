import { CronJob } from "cron";

const invoice = async () => console.log("writing invoices");

const job = CronJob.from({
  cronTime: "0 0 6 1 jan,apr,jul,oct *",
  onTick: invoice,
  start: true,
  timeZone: "Europe/London",
  waitForCompletion: true,
});

console.log(job.nextDate().toJSDate().toISOString());
await job.stop();
