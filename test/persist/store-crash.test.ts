/** R1, R3 and R16 at the level of a store: real processes, killed or out of space while they write. */
import { spawnSync } from "node:child_process";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BACKENDS } from "../../src/persist/backends.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import type { BackendName } from "../../src/persist/marker.js";
import { bundleEntry } from "../support/bundle.js";
import { testProcesses } from "../support/process.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { documentsOf, must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);
const start = testProcesses();
const isLong = process.env["KRON_TEST_LONG"] === "1";
const canMount = process.geteuid?.() === 0 && spawnSync("unshare", ["-m", "true"]).status === 0;

let writer: { readonly file: string; remove(): void };
beforeAll(async () => {
  writer = await bundleEntry(path.join(import.meta.dirname, "process/store-writer.ts"));
});
afterAll(() => writer.remove());

/** The n that everything in the store agrees on; 0 when it is empty. */
async function agreed(directory: string, backend: BackendName): Promise<number> {
  const term = must(acquireDirectoryLock(directory));
  try {
    const store = must(await BACKENDS[backend].open(term));
    const texts = Object.values(await documentsOf(store)).map((text) => Number.parseInt(text, 10));
    const newest = await store.ledgerLatest("job/7", 1);
    const said = new Set([...texts, Number((await store.meta("last")) ?? 0), newest[0]?.at ?? 0]);
    await store.close();
    expect([...said].length, `one answer, not ${[...said].join()}`).toBe(1);
    return [...said][0] ?? 0;
  } finally {
    term.release();
  }
}

function durableOf(line: string | null): number {
  return (JSON.parse(line ?? "{}") as { durable?: number }).durable ?? 0;
}

const kills: readonly { backend: BackendName; jobs: number; times: number }[] = [
  { backend: "lmdb", jobs: 20, times: isLong ? 1_000 : 16 },
  // So many writes begin to reach the disk before the last of them is handed over.
  { backend: "lmdb", jobs: 3_000, times: isLong ? 200 : 4 },
  { backend: "files", jobs: 20, times: isLong ? 300 : 5 },
];
for (const { backend, jobs, times } of kills) {
  test(`R1, R16: ${times} SIGKILLs on ${backend}, ${jobs} jobs a batch: nothing acknowledged is lost, nothing is there in part`, async () => {
    const directory = newDirectory();
    let acknowledged = 0;
    for (let kill = 0; kill < times; kill += 1) {
      const process = start(writer.file, [directory, backend, "100", `${jobs}`]);
      for (let lines = 0; lines <= (kill * 7) % 5; lines += 1) acknowledged = durableOf(await process.line());
      // The kill is to land anywhere in a commit, so its instant is random on purpose; nothing depends on it.
      await new Promise((resolve) => setTimeout(resolve, (kill * 13) % 30));
      await process.kill("SIGKILL");
      expect(await agreed(directory, backend), `kill ${kill}`).toBeGreaterThanOrEqual(acknowledged);
    }
    expect(acknowledged).toBeGreaterThanOrEqual(times);
  });
}

interface Ending {
  readonly durable: number;
  readonly lines: readonly object[];
}

/** Runs the writer until it ends by itself. */
function runToEnd(command: string, args: readonly string[]): Ending {
  const { stdout } = spawnSync(command, args, { encoding: "utf8" });
  const lines = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as object);
  const durable = lines.filter((line) => "durable" in line).length;
  return { durable, lines: lines.slice(durable) };
}

const refused = { code: "state-write-failed", again: "state-write-failed" };

describe("R3: no space left", () => {
  for (const backend of ["lmdb", "files"] as const) {
    test(`${backend}: a write beyond the file size limit is fatal, no second one is tried, and the store stays whole`, async () => {
      const directory = newDirectory();
      // A limit on the size of one file needs no privileges; the shell counts blocks of 512 or 1024 bytes.
      const script = 'ulimit -f 1500; exec "$0" "$@"';
      const args = [process.execPath, writer.file, directory, backend, backend === "lmdb" ? "20000" : "200000"];
      const { durable, lines } = runToEnd("sh", ["-c", script, ...args]);
      expect(lines).toEqual([{ failed: durable + 1, ...refused }, { closed: true }]);
      const found = await agreed(directory, backend);
      expect([durable, durable + 1]).toContain(found);
    });

    test.skipIf(!canMount)(`${backend}: the same on a full disk (needs mount privileges)`, () => {
      const directory = newDirectory();
      const script = 'mount -t tmpfs -o size=4m,mode=700 none "$1" && shift && exec "$0" "$@"';
      const args = [
        process.execPath,
        directory,
        writer.file,
        directory,
        backend,
        backend === "lmdb" ? "20000" : "120000",
      ];
      const { durable, lines } = runToEnd("unshare", ["-m", "sh", "-c", script, ...args]);
      expect(lines).toEqual([{ failed: durable + 1, ...refused }, { closed: true }]);
    });
  }
});
