/** A system that gives no thread, or fewer than were wanted: what threads would have computed is computed all the same. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleEntry } from "../../support/bundle.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { NOW } from "./support/stored-jobs.js";
import { lmdbStores, quietJobs } from "./support/stores.js";
import { builtWorker } from "./support/worker.js";

const worker = builtWorker();
const openStore = lmdbStores();
const newDirectory = temporaryDirectories();
const isRoot = process.geteuid?.() === 0;
/** To root no limit means anything; and of a user with other processes nobody knows how many threads are left. */
const FIRST_USER = 1_100_000;
const JOBS = 600;

let program: Awaited<ReturnType<typeof bundleEntry>>;
beforeAll(async () => {
  program = await bundleEntry("test/actors/pool/support/short-of-threads.ts", ["lmdb", "piscina"]);
});
afterAll(() => program.remove());

function asUser(user: number, ...directories: readonly string[]): readonly string[] {
  if (!isRoot) return [];
  spawnSync("chown", ["-R", `${user}:${user}`, ...directories]);
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"];
}

describe("threads that the system refuses", () => {
  test.each([...(isRoot ? [1, 2] : []), 0])(
    "of three, %i are granted: nothing is lost, nothing is done twice, and it is told",
    async (granted) => {
      const { store, term, directory } = await openStore(quietJobs(JOBS));
      await store.close();
      term.release();
      const root = newDirectory();
      const config = path.join(root, "jobs.jsonl");
      const lines = Array.from(
        { length: JOBS },
        (_, index) => `{"identity":"t/${index}","schedule":"0 0 1 1 *","command":["x"]}`,
      );
      fs.writeFileSync(config, `${lines.join("\n")}\n`);
      const wrap = asUser(FIRST_USER + process.pid * 3 + granted, directory, root);
      const command = [process.execPath, program.file, worker.entry(), directory, config, String(granted), String(NOW)];
      const [name = "", ...args] = [...wrap, ...command];
      const { status, stdout, stderr } = spawnSync(name, args, { encoding: "utf8", timeout: 60_000 });
      if (isRoot) spawnSync("chown", ["-R", "0:0", directory, root]);
      expect([status, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toEqual({
        planned: { rows: JOBS, distinct: JOBS, isPooled: true },
        read: JOBS,
        refusals: [expect.stringMatching(/^worker-unavailable: the system gives no (?:further )?thread: .*EAGAIN/)],
      });
    },
  );
});
