// One fact about lmdb a run, with nothing of ours in between. Run by lmdb-facts.test.ts.
import * as fs from "node:fs";
import { ABORT, open } from "lmdb";

const [fact, file] = process.argv.slice(2);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
process.on("unhandledRejection", (error) => say({ unhandled: error.message }));

function environment(options = {}) {
  return open({ path: file, noSubdir: true, overlappingSync: false, permissionsMode: 0o600, ...options });
}
const texts = { encoding: "string", useVersions: true };
const keys = (database) => [...database.getKeys()];

const FACTS = {
  /** A callback that throws half-way. */
  async throwing() {
    const root = environment();
    const database = root.openDB("texts", texts);
    const half = () => {
      database.put("first", "1", 1);
      throw new Error("half-way");
    };
    const found = {};
    for (const way of ["batch", "transaction", "transactionSync"]) {
      try {
        await root[way](half);
      } catch {
        // Expected: the question is what is there afterwards.
      }
      await root.committed;
      await new Promise((resolve) => setImmediate(resolve));
      found[way] = keys(database);
      await database.remove("first");
    }
    await root.transaction(() => {
      database.put("first", "1", 1);
      return ABORT;
    });
    found.abort = keys(database);
    say(found);
  },
  /** What a reader sees while a commit is under way. */
  async visibility() {
    const root = environment({ eventTurnBatching: false });
    const database = root.openDB("texts", texts);
    await database.put("key", "old", 1);
    const commit = root.batch(() => database.put("key", "new", 2));
    const before = database.get("key");
    await commit;
    say({ before, after: database.get("key") });
  },
  async versions() {
    const root = environment();
    const database = root.openDB("texts", texts);
    await database.put("key", "", 4294967296);
    say({ entry: database.getEntry("key"), range: [...database.getRange({ versions: true })] });
  },
  /** Fills until nothing fits, then once more. */
  async full() {
    const root = environment({ eventTurnBatching: process.argv[4] === "batching" });
    const database = root.openDB("texts", texts);
    let written = 0;
    let failure;
    while (failure === undefined) {
      const at = written;
      await root
        .batch(() => {
          for (let n = 0; n < 10; n += 1) database.put(`${at}/${n}`, "x".repeat(4_000), 1);
        })
        .catch((error) => {
          failure = error;
        });
      if (failure === undefined) written += 1;
    }
    const reason = await failure.commitError.catch((error) => error.message);
    const isThere = database.get(`${written}/0`) !== undefined;
    const again = await database.put("small", "x", 1).then(
      () => "committed",
      () => "failed",
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    say({ reason, isThere, again });
  },
  /** Large batches, several at once, until long after nothing fits any more. */
  async crowd() {
    const root = environment({ eventTurnBatching: false });
    const database = root.openDB("texts", texts);
    let failed = 0;
    for (let round = 0; round < 12; round += 1) {
      const batches = [0, 1, 2, 3].map((at) =>
        root
          .batch(() => {
            for (let n = 0; n < 1_500; n += 1) database.put(`${round}/${at}/${n}`, "x".repeat(100), 1);
          })
          .catch(async (error) => {
            failed += 1;
            await error.commitError.catch(() => {});
          }),
      );
      await Promise.all(batches);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    say({ failed: failed > 10 });
  },
  async read() {
    const root = environment({ readOnly: true });
    const database = root.openDB("texts", texts);
    let characters = 0;
    if (database !== undefined) for (const { value } of database.getRange({})) characters += value.length;
    say({ characters });
  },
  async write() {
    const root = environment();
    const database = root.openDB("texts", texts);
    await root.batch(() => {
      for (let n = 0; n < 500; n += 1) database.put(`key ${n}`, "x".repeat(1_000), 1);
    });
    say({
      written: true,
      mode: (fs.statSync(file).mode & 0o7777).toString(8),
      lock: (fs.statSync(`${file}-lock`).mode & 0o7777).toString(8),
    });
  },
  /** Both hold it open and both write. */
  async second() {
    const root = environment();
    const database = root.openDB("texts", texts);
    await database.put(process.argv[4], "here", 1);
    say({ wrote: process.argv[4] });
    process.stdin.resume();
    process.stdin.on("end", () => {
      say({ keys: keys(database) });
      process.exit(0);
    });
  },
  async descriptors() {
    const { spawnSync } = await import("node:child_process");
    const root = environment();
    const { stdout } = spawnSync("ls", ["-l", "/proc/self/fd"], { encoding: "utf8" });
    say({ inherits: stdout.includes(file) });
    await root.close();
  },
  /** For strace: which system calls come before the promise. */
  async order() {
    const root = environment({ eventTurnBatching: false });
    const database = root.openDB("texts", texts);
    fs.writeSync(1, "BEGIN\n");
    await root.batch(() => database.put("key", "y".repeat(100), 1));
    fs.writeSync(1, "RESOLVED\n");
  },
};
await FACTS[fact]();
