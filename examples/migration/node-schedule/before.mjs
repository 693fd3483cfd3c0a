import schedule from "node-schedule";

const report = async () => console.log("reporting");

const rule = { dayOfWeek: 1, hour: 9, minute: 30, tz: "Asia/Tokyo" };
const job = schedule.scheduleJob("report", rule, report);

console.log(job.nextInvocation().toISOString());
await schedule.gracefulShutdown();
