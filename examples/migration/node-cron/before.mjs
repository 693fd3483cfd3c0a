import cron from "node-cron";

const sync = async () => console.log("syncing");

const task = cron.schedule("*/15 9-17 * * mon-fri", sync, { timezone: "Europe/Berlin", noOverlap: true });

console.log(task.getNextRun().toISOString());
await task.destroy();
