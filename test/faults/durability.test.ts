/**
 * S31: what was acknowledged is on the disk. The kernel says which pages of a mapped file are still to be written: after a
 * commit that was synced there are none.
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, expect, test } from "vitest";
import { documentKey } from "../../src/persist/keys.js";
import { DATA_FILE } from "../../src/persist/lmdb/environment.js";
import { openLmdbStore } from "../../src/persist/lmdb/open.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import { requireOk } from "../support/results.js";

/** Beside the packages, because a temporary directory may lie in memory, where every page counts as unwritten. */
const PARENT = path.resolve(import.meta.dirname, "../../node_modules/.cache/kron-test");
const ROUNDS = 20;
const DOCUMENTS = 200;

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) fs.rmSync(directory, { recursive: true, force: true });
});

/** Kilobytes of the mapped data file that are not on the disk yet. */
function unwrittenKilobytes(file: string): number {
  let isOurs = false;
  let sum = 0;
  for (const line of fs.readFileSync("/proc/self/smaps", "utf8").split("\n")) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) isOurs = line.endsWith(file);
    const dirty = /^(?:Shared|Private)_Dirty: +(\d+) kB$/.exec(line);
    if (isOurs && dirty !== null) sum += Number(dirty[1]);
  }
  return sum;
}

test("S31: when a commit is acknowledged, no page of the store is left to be written", async () => {
  const directory = path.join(PARENT, `durable-${randomUUID()}`);
  directories.push(directory);
  const term = requireOk(acquireDirectoryLock(directory));
  const store = requireOk(await openLmdbStore(term));
  const file = fs.realpathSync(path.join(directory, DATA_FILE));
  const unwritten: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const documents = Array.from({ length: DOCUMENTS }, (_, index) => {
      return { key: documentKey(`job-${index}`), text: JSON.stringify({ round, filler: "x".repeat(500) }) };
    });
    await store.commit(term, { documents });
    unwritten.push(unwrittenKilobytes(file));
    // Pages count once they were looked at.
    for (let index = 0; index < DOCUMENTS; index += 1) await store.get(`job-${index}`);
    unwritten.push(unwrittenKilobytes(file));
  }
  await store.close();
  term.release();
  expect(unwritten).toEqual(unwritten.map(() => 0));
});
