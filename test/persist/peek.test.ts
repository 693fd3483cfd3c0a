/** A note that is read from a store before it was checked: a hint or nothing, whatever has become of the file. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { DATA_FILE, NOTE_PREFIX, openDatabases } from "../../src/persist/lmdb/environment.js";
import { openLmdbStore } from "../../src/persist/lmdb/open.js";
import { peekNote } from "../../src/persist/lmdb/peek.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);
const NOTE = { key: "config.manifest", text: '{"ä":"\\n"}' };

async function storeDirectory(): Promise<string> {
  const directory = newDirectory();
  const term = must(acquireDirectoryLock(directory));
  const store = must(await openLmdbStore(term));
  await store.commit(term, { meta: [NOTE] });
  await store.close();
  term.release();
  return directory;
}

function bytesOf(directory: string): Buffer {
  return fs.readFileSync(path.join(directory, DATA_FILE));
}

function replace(directory: string, bytes: Buffer): void {
  fs.writeFileSync(path.join(directory, DATA_FILE), bytes);
}

const DAMAGES: readonly (readonly [string, (directory: string) => void | Promise<void>])[] = [
  ["a file that is cut off behind its first pages", (it) => replace(it, bytesOf(it).subarray(0, 2 * 4096))],
  ["an empty file", (it) => replace(it, Buffer.alloc(0))],
  ["no store at all", (it) => replace(it, Buffer.alloc(8 * 4096, "x"))],
  [
    "pages that lead nowhere",
    (it) => replace(it, Buffer.concat([bytesOf(it).subarray(0, 8192), Buffer.alloc(65_536, 255)])),
  ],
  ["a file that is gone", (it) => fs.rmSync(path.join(it, DATA_FILE))],
  ["a file that others may read", (it) => fs.chmodSync(path.join(it, DATA_FILE), 0o644)],
  [
    "a note that is not the one that was written",
    async (it) => {
      const { root, meta } = openDatabases(it, false);
      await meta.put(NOTE_PREFIX + NOTE.key, "{}", 1);
      await root.close();
    },
  ],
];

describe("a note of a store that nobody has checked yet", () => {
  test("is what was committed last", async () => {
    const directory = await storeDirectory();
    expect(await peekNote(directory, NOTE.key)).toBe(NOTE.text);
    expect(await peekNote(directory, "boot.note")).toBeUndefined();
  });

  test.each(DAMAGES)("S31: is none, and nobody comes to harm: %s", async (_, damage) => {
    const directory = await storeDirectory();
    await damage(directory);
    expect(await peekNote(directory, NOTE.key)).toBeUndefined();
  });

  test("is none where no store is, and none is made", async () => {
    const directory = newDirectory();
    expect(await peekNote(directory, NOTE.key)).toBeUndefined();
    expect(fs.readdirSync(directory)).toEqual([]);
  });
});
