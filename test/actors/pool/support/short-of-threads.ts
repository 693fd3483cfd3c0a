/**
 * A process of its own, to which the system gives no more threads than it is told: plans a store, reads a configuration,
 * and says in one line what came of it.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createDecisionPool } from "../../../../src/actors/pool/decision-pool.js";
import { openLmdbStore } from "../../../../src/persist/lmdb/open.js";
import { acquireDirectoryLock } from "../../../../src/persist/lock.js";
import { identityOf } from "./pages.js";

const [entry = "", directory = "", config = "", granted = "0", now = "0"] = process.argv.slice(2);
const term = acquireDirectoryLock(directory);
if (!term.ok) throw term.error;
const store = await openLmdbStore(term.value);
if (!store.ok) throw store.error;

const refusals: string[] = [];
const pool = createDecisionPool({
  threads: 3,
  entry,
  limits: { inlineDocuments: 0, pageRows: 40, inlineFileBytes: 0, pieceBytes: 4_096, idleMs: 100 },
  onRefused: ({ code, message }) => void refusals.push(`${code}: ${message}`),
});

/** By user: 1 is less than any user has already. */
const most = granted === "0" ? 1 : fs.readdirSync("/proc/self/task").length + Number(granted);
const limited = spawnSync("prlimit", ["--pid", String(process.pid), `--nproc=${most}:`], { encoding: "utf8" });
if (limited.status !== 0) throw new Error(limited.stderr);

const identities: string[] = [];
const { isPooled } = await pool.planAll(store.value, {
  now: Number(now),
  onPage: (page) => {
    for (let index = 0; index < page.count; index++) identities.push(identityOf(page, index));
  },
});
const { definitions } = await pool.load([{ name: "jobs.jsonl", path: config }]);
const planned = { rows: identities.length, distinct: new Set(identities).size, isPooled };
await pool.close();
await store.value.close();
term.value.release();
process.stdout.write(`${JSON.stringify({ planned, read: definitions?.size, refusals })}\n`);
