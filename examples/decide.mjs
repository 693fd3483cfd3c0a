// Recompute a decision: when does the nightly backup of 1 March 2026 run, and why then?
// In your own project: import ... from "kron".
import assert from "node:assert/strict";
import { compileRule, decide, formatInstant, readJobDefinition } from "../dist/index.js";

const read = readJobDefinition({
  identity: "prod/db-backup",
  schedule: "0 0 * * *",
  window: { mode: "after", duration: "3h" },
  seed: { strategy: "stable", salt: "backup" },
  command: ["/usr/bin/backup", "--full"],
});
if (!read.ok) throw new Error(read.error.map((problem) => problem.message).join("\n"));

const job = compileRule(read.value);
const nominalAt = job.schedule.next(Date.parse("2026-02-28T12:00:00Z"));
const decision = decide(job, nominalAt);

console.log(`period ${decision.periodId}`);
console.log(`window ${formatInstant(decision.windowStartAt)} ... ${formatInstant(decision.windowEndAt)}`);
console.log(`chosen ${formatInstant(decision.chosenAt)}   (sha-256 ${decision.seedHash.slice(0, 16)}...)`);

// The same inputs give the same second, on every machine and every version of Node.
assert.equal(formatInstant(decision.chosenAt), "2026-03-01T02:32:20Z");
