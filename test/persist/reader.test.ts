import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JOURNAL_FILE } from "../../src/persist/files/atomic.js";
import { DATA_FILE } from "../../src/persist/lmdb/environment.js";
import { openStateReader } from "../../src/persist/open.js";
import { bundleEntry } from "../support/bundle.js";
import { testProcesses } from "../support/process.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);
const start = testProcesses();

let writer: { readonly file: string; remove(): void };
beforeAll(async () => {
  writer = await bundleEntry(path.join(import.meta.dirname, "process/store-writer.ts"));
});
afterAll(() => writer.remove());

async function codeOf(directory: string): Promise<string> {
  const opened = await openStateReader(directory);
  if (opened.ok) await opened.value.close();
  return opened.ok ? "opened" : opened.error.code;
}

describe("reading without the lock", () => {
  test("where there is no store it says so, and creates nothing", async () => {
    const directory = newDirectory();
    const missing = path.join(directory, "missing");
    expect([await codeOf(missing), await codeOf(directory)]).toEqual(["state-missing", "state-missing"]);
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  test("lmdb: while a daemon holds the lock and writes, and after it was killed", async () => {
    const directory = newDirectory();
    const daemon = start(writer.file, [directory, "lmdb"]);
    await daemon.line();
    const reader = must(await openStateReader(directory));
    const before = Number(await reader.meta("last"));
    let durable = before;
    while (durable <= before) durable = (JSON.parse((await daemon.line()) ?? "{}") as { durable: number }).durable;
    const after = Number(await reader.meta("last"));
    await daemon.kill();
    await reader.close();
    expect(before).toBeGreaterThan(0);
    expect(after).toBeGreaterThanOrEqual(durable);
    expect(await codeOf(directory)).toBe("opened");
  });

  test("R7: a damaged store is refused, not read", async () => {
    const directory = newDirectory();
    const daemon = start(writer.file, [directory, "lmdb", "1000"]);
    await daemon.line();
    await daemon.kill();
    fs.truncateSync(path.join(directory, DATA_FILE), 9 * 4096);
    expect(await codeOf(directory)).toBe("state-damaged");
  });

  test("files: a commit that was interrupted is not told by halves", async () => {
    const directory = newDirectory();
    const daemon = start(writer.file, [directory, "files"]);
    await daemon.line();
    await daemon.kill();
    fs.writeFileSync(path.join(directory, JOURNAL_FILE), "", { mode: 0o600 });
    const unfinished = await codeOf(directory);
    fs.rmSync(path.join(directory, JOURNAL_FILE));
    expect([unfinished, await codeOf(directory)]).toEqual(["state-unreadable", "opened"]);
  });
});
