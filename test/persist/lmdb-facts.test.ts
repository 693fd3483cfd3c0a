/**
 * R16: what we rely on in the LMDB binding, asked of the binding alone, in processes of its own. When an upgrade changes
 * an answer, the code that relies on it has to change first.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { testProcesses } from "../support/process.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();
const start = testProcesses();
const PROGRAM = path.join(import.meta.dirname, "process/lmdb-fact.mjs");
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

interface Answer {
  readonly said: object[];
  readonly status: number | null;
  readonly signal: string | null;
}

function newFile(): string {
  return path.join(newDirectory(), "facts.mdb");
}

function answer(output: { stdout: string; status: number | null; signal: string | null }): Answer {
  const lines = output.stdout.split("\n").filter((line) => line.startsWith("{"));
  return { said: lines.map((line) => JSON.parse(line) as object), status: output.status, signal: output.signal };
}

function ask(fact: string, file: string, ...more: string[]): Answer {
  return answer(spawnSync(process.execPath, [PROGRAM, fact, file, ...more], { encoding: "utf8" }));
}

function askWithLimit(fact: string, file: string, ...more: string[]): Answer {
  const args = ["-c", 'ulimit -f 1000; exec "$0" "$@"', process.execPath, PROGRAM, fact, file, ...more];
  return answer(spawnSync("sh", args, { encoding: "utf8" }));
}

describe("R16: facts about lmdb", () => {
  test("a callback that throws commits its first half, except in transactionSync: we serialise before, and hand over", () => {
    const [said] = ask("throwing", newFile()).said;
    expect(said).toEqual({ batch: ["first"], transaction: ["first"], transactionSync: [], abort: ["first"] });
  });

  test("a read sees the old value until the promise of the commit resolved", () => {
    expect(ask("visibility", newFile()).said).toEqual([{ before: "old", after: "new" }]);
  });

  test("a version of 33 bits is kept beside a value and does not belong to it: our checksum", () => {
    const entry = { value: "", version: 2 ** 32 };
    expect(ask("versions", newFile()).said).toEqual([{ entry, range: [{ key: "key", ...entry }] }]);
  });

  test("files are 0600 with permissionsMode, the lock file too", () => {
    expect(ask("write", newFile()).said).toEqual([{ written: true, mode: "600", lock: "600" }]);
  });

  test.skipIf(!canTrace)("a commit resolves after its pages and its snapshot are on the medium (needs strace)", () => {
    const file = newFile();
    const args = ["-f", "-y", "-e", "trace=openat,writev,pwrite64,fdatasync,fsync", process.execPath, PROGRAM];
    const { stderr } = spawnSync("strace", [...args, "order", file], { encoding: "utf8" });
    const ofFile = stderr.split("\n").filter((line) => line.includes("facts.mdb>") && !line.includes("= -1"));
    const calls = ofFile.slice(-3).map((line) => /(\w+)\((\d+)</.exec(line)?.slice(1, 3));
    const [, , [, snapshotDescriptor] = []] = calls as [unknown, unknown, string[]];
    const opened = ofFile.find((line) => line.includes(`= ${snapshotDescriptor}<`)) ?? "";
    // The descriptor of the snapshot was opened O_DSYNC: its write is its sync.
    expect([calls.map((call) => call?.[0]), opened.includes("O_DSYNC")]).toEqual([
      ["writev", "fdatasync", "pwrite64"],
      true,
    ]);
  });

  test("a write that finds no space rejects, its value is not visible, and the next write would succeed: we refuse it", () => {
    const { said } = askWithLimit("full", newFile());
    expect(said).toEqual([{ reason: "Input/output error", isThere: false, again: "committed" }]);
  });

  test("with eventTurnBatching a failed commit also rejects a promise that nobody can handle: we turn it off", () => {
    const { said } = askWithLimit("full", newFile(), "batching");
    expect(said).toContainEqual({ unhandled: "Commit failed (see commitError for details)" });
  });

  test("without it no failed commit leaves anything unhandled, however large they are and however many at once", () => {
    expect(askWithLimit("crowd", newFile()).said).toEqual([{ failed: true }]);
  });

  test("a truncated map kills the process that reads it: we read it in a child first", () => {
    const file = newFile();
    ask("write", file);
    fs.truncateSync(file, 5 * 4096);
    const { said, signal } = ask("read", file);
    expect([said, ["SIGBUS", "SIGSEGV"].includes(String(signal))]).toEqual([[], true]);
  });

  test("an emptied file opens as an empty store without an error: we keep a marker beside it", () => {
    const file = newFile();
    ask("write", file);
    fs.truncateSync(file, 0);
    fs.rmSync(`${file}-lock`);
    // Opened for writing, as a daemon would: read-only it is an error.
    expect(ask("versions", file).said.length).toBe(1);
  });

  test("two processes may both write: it is no daemon lock", async () => {
    const file = newFile();
    const one = start(PROGRAM, ["second", file, "one"]);
    await one.line();
    const two = start(PROGRAM, ["second", file, "two"]);
    await two.line();
    one.child.stdin?.end();
    expect(JSON.parse((await one.line()) ?? "")).toEqual({ keys: ["one", "two"] });
  });

  test("the descriptor of the data file is inherited by every process that is spawned: the launcher closes it", () => {
    expect(ask("descriptors", newFile()).said).toEqual([{ inherits: true }]);
  });
});
