import later from "@breejs/later";
import Bree from "bree";

const jobs = [{ name: "reindex", path: () => console.log("reindexing"), cron: "*/30 2 * * 0" }];
const bree = new Bree({ root: false, logger: false, timezone: "UTC", jobs });
await bree.start();

console.log(later.schedule(bree.config.jobs[0].interval).next().toISOString());
await bree.stop();
