/** Where words go, and how many of them stay (S29, R10). */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { OutputCap } from "../../../../src/actors/launcher/child/output-cap.js";
import type { OutputPlan, ProcessArm } from "../../../../src/actors/launcher/port.js";
import { eventually, isAlive, isRoot, sharedLauncher, shellRequest, testLaunchers } from "../../../support/launcher.js";
import { temporaryDirectories } from "../../../support/temporary.js";

const start = testLaunchers();
const shared = sharedLauncher();
const temporary = temporaryDirectories();

type FilePlan = Extract<OutputPlan, { to: "file" }>;

function filePlan(directory: string, more: Partial<FilePlan> = {}): FilePlan {
  const usual = { name: "out", maxBytes: 10_000, keep: 10, onExcess: "drop-middle", killGraceMs: 1_000 } as const;
  return { to: "file", directory, ...usual, ...more };
}

function read(directory: string, name = "out"): string {
  return fs.readFileSync(path.join(directory, name), "latin1");
}

function sizeOf(directory: string, name = "out"): number {
  return fs.statSync(path.join(directory, name)).size;
}

describe("a run's output file", () => {
  test("holds both streams in order, belongs to the daemon's directory, and is nobody else's to read", async () => {
    const launcher = shared();
    const directory = path.join(temporary(), "made", "on demand");
    const armed = await launcher.run(shellRequest("echo a; echo b >&2; echo c", { output: filePlan(directory) }));
    await launcher.exitOf(armed);
    expect(read(directory)).toBe("a\nb\nc\n");
    expect([fs.statSync(directory).mode & 0o777, fs.statSync(path.join(directory, "out")).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });

  test("an aborted gate leaves none", async () => {
    const launcher = shared();
    const directory = temporary();
    await launcher.port.abort(await launcher.ready(shellRequest("exit", { output: filePlan(directory) })));
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  test("a gate that came too late leaves none", async () => {
    const launcher = shared();
    const directory = temporary();
    const armed = await launcher.ready(shellRequest("exit", { output: filePlan(directory) }));
    expect(await launcher.port.go(armed, 0)).toBe("late");
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  test("of many runs the newest stay", async () => {
    const launcher = shared();
    const directory = temporary();
    for (const name of ["a", "b", "c", "d"]) {
      const armed = await launcher.run(
        shellRequest(`echo ${name}`, { output: filePlan(directory, { name, keep: 2 }) }),
      );
      await launcher.exitOf(armed);
      await eventually(() => fs.readdirSync(directory).length <= 2, "the oldest is gone");
    }
    expect(fs.readdirSync(directory)).toEqual(["c", "d"]);
  });
});

const NOTE = /\n\[kron: at least (\d+) bytes of output were dropped here: the limit is (\d+)\]\n/;
const MANY_LINES = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done";
const ALL_LINES = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join("");

describe("S29: at the cap the middle is dropped with a note", () => {
  test("a finished run keeps its beginning and its end, and says how much is missing", async () => {
    const launcher = shared();
    const directory = temporary();
    const armed = await launcher.run(shellRequest(MANY_LINES, { output: filePlan(directory) }));
    await launcher.exitOf(armed);
    await eventually(() => sizeOf(directory) < 10_200, "the file is within its cap");
    const text = read(directory);
    const [note = "", dropped, limit] = NOTE.exec(text) ?? [];
    const [head, tail] = text.split(note);
    expect([head, tail]).toEqual([ALL_LINES.slice(0, 5_000), ALL_LINES.slice(-5_000)]);
    expect([Number(dropped), Number(limit)]).toEqual([ALL_LINES.length - 10_000, 10_000]);
    expect(fs.readdirSync(directory)).toEqual(["out"]);
  });

  test("what just fits is left as it is", async () => {
    const launcher = shared();
    const directory = temporary();
    const armed = await launcher.run(
      shellRequest(MANY_LINES, { output: filePlan(directory, { maxBytes: ALL_LINES.length }) }),
    );
    await launcher.exitOf(armed);
    expect(read(directory)).toBe(ALL_LINES);
  });

  test("R10: a job that floods the disk is held near its cap while it runs", async () => {
    const launcher = shared();
    const directory = temporary();
    const maxBytes = 1_000_000;
    const script =
      "echo first; dd if=/dev/zero bs=65536 count=3000 2>/dev/null | tr '\\0' x; echo last; exec sleep 1000";
    const armed = await launcher.run(shellRequest(script, { output: filePlan(directory, { maxBytes }) }));
    // Written in full: 196 MB and two lines, of which only the room around the cap may be held.
    await eventually(() => sizeOf(directory) === 3_000 * 65_536 + 11, "all was written");
    await eventually(() => heldBytes(directory) <= maxBytes * 1.5, "the middle is dropped");
    await launcher.port.terminate(armed.attemptId, 10_000);
    await launcher.exitOf(armed);
    await eventually(() => sizeOf(directory) <= maxBytes + 200, "the final form");
    expect([read(directory).slice(0, 7), read(directory).slice(-6)]).toEqual(["first\nx", "xlast\n"]);
  });

  test("an adopted run's output is capped again", async () => {
    const first = await start();
    const directory = temporary();
    const plan = filePlan(directory, { maxBytes: 1_000_000 });
    const pipe = path.join(temporary(), "signal");
    spawnSync("mkfifo", [pipe]);
    const script = `read x <${pipe}; dd if=/dev/zero bs=65536 count=200 2>/dev/null; exec sleep 1000`;
    const armed = await first.run(shellRequest(script, { output: plan }));
    await first.port.close();
    const second = await start();
    const output = { path: path.join(directory, "out"), plan };
    expect(await second.port.adopt({ ...armed, output })).toBe("watching");
    fs.writeFileSync(pipe, "\n");
    await eventually(
      () => sizeOf(directory) === 200 * 65_536 && heldBytes(directory) <= 1_500_000,
      "the middle is dropped",
    );
    await second.port.terminate(armed.attemptId, 10_000);
    await second.exitOf(armed);
    await eventually(() => sizeOf(directory) <= 1_000_200, "the final form");
  });

  test("a run that ended while nobody looked gets its final form when the next daemon asks for it", async () => {
    const first = await start();
    const directory = temporary();
    const plan = filePlan(directory);
    const pipe = path.join(temporary(), "signal");
    spawnSync("mkfifo", [pipe]);
    const armed = await first.run(shellRequest(`read x <${pipe}; ${MANY_LINES}`, { output: plan }));
    await first.port.close();
    fs.writeFileSync(pipe, "\n");
    await eventually(() => !isAlive(armed.holder.pid), "the run has ended");
    expect(sizeOf(directory)).toBe(ALL_LINES.length);
    const second = await start();
    const output = { path: path.join(directory, "out"), plan };
    expect(await second.port.adopt({ ...armed, output })).toBe("gone");
    await eventually(() => sizeOf(directory) < 10_200, "the final form");
  });

  test("on_excess kill ends the run, tree and all, and says why", async () => {
    const launcher = shared();
    const directory = temporary();
    const request = shellRequest("trap '' TERM; yes", {
      output: filePlan(directory, { onExcess: "kill", killGraceMs: 50 }),
    });
    const armed = await launcher.run(request);
    expect(await launcher.exitOf(armed)).toMatchObject({
      ending: { signal: "SIGKILL", code: null, reason: "output-exceeded" },
    });
  });
});

/** What the file takes on the disk. */
function heldBytes(directory: string): number {
  return fs.statSync(path.join(directory, "out")).blocks * 512;
}

describe("S29: a file system without holes", () => {
  // ramfs knows no holes: there fallocate fails.
  const mounted = temporaryMount();
  afterAll(() => void (mounted !== null && spawnSync("umount", [mounted]).status === 0 && fs.rmdirSync(mounted)));

  test.skipIf(mounted === null)(
    `beginning, end and count survive repeated cutting${mounted === null ? " (skipped: no ramfs can be mounted)" : ""}`,
    async () => {
      const directory = mounted ?? "";
      const plan = filePlan(directory, { maxBytes: 200_000 });
      const file = path.join(directory, "out");
      const troubles: string[] = [];
      fs.writeFileSync(file, "first\n");
      const cap = new OutputCap(file, plan, {
        exceeded: () => undefined,
        trouble: (message) => troubles.push(message),
      });
      let written = 6;
      for (let round = 0; round < 5; round++) {
        written += 500_000;
        fs.appendFileSync(file, "x".repeat(500_000));
        await eventually(() => fs.statSync(file).size < 400_000, "it was cut");
      }
      fs.appendFileSync(file, "last\n");
      await cap.finish();
      const text = read(directory);
      const [note = "", dropped] = NOTE.exec(text) ?? [];
      expect(troubles).toEqual([]);
      expect([text.slice(0, 7), text.slice(-6)]).toEqual(["first\nx", "xlast\n"]);
      expect(text.length - note.length + Number(dropped)).toBe(written + 5);
    },
  );
});

/** A ramfs for this file's tests; null where that cannot be had. */
function temporaryMount(): string | null {
  if (!isRoot) return null;
  const directory = fs.mkdtempSync(path.join(fs.realpathSync("/tmp"), "kron-ramfs-"));
  if (spawnSync("mount", ["-t", "ramfs", "ramfs", directory]).status === 0) return directory;
  fs.rmdirSync(directory);
  return null;
}

describe("other places for output", () => {
  test.each<[to: "inherit" | "discard", output: ProcessArm["output"], target: RegExp]>([
    ["discard", { to: "discard" }, /^\/dev\/null$/],
    ["inherit", { to: "inherit" }, new RegExp(`^${fs.readlinkSync("/proc/self/fd/1").replace(/[[\]]/g, "\\$&")}$`)],
  ])("%s", async (_, output, target) => {
    const launcher = shared();
    const armed = await launcher.run(shellRequest("exec sleep 1000", { output }));
    await eventually(
      () => target.test(fs.readlinkSync(`/proc/${armed.holder.pid}/fd/1`)),
      "the output is where it should be",
    );
    expect(fs.readlinkSync(`/proc/${armed.holder.pid}/fd/0`)).toBe("/dev/null");
  });

  const hasLogger = fs.existsSync("/usr/bin/logger");
  test.skipIf(!hasLogger)(
    `syslog: a logger that lives as long as the job, also without us${hasLogger ? "" : " (skipped: no logger)"}`,
    async () => {
      const launcher = await start();
      const tag = `kron-test-${process.pid}`;
      const armed = await launcher.run(shellRequest("exec sleep 1000", { output: { to: "syslog", tag } }));
      const [logger = 0] = loggersOf(tag);
      onTestFinished(() => void (loggersOf(tag).includes(logger) && process.kill(logger, "SIGKILL")));
      expect([logger > 0, fs.readlinkSync(`/proc/${armed.holder.pid}/fd/1`).startsWith("socket:")]).toEqual([
        true,
        true,
      ]);
      for (const pid of await launcher.processes()) process.kill(pid, "SIGKILL");
      await eventually(() => launcher.events.length > 0, "the launcher's death is known");
      expect(loggersOf(tag)).toEqual([logger]);
      await launcher.port.terminate(armed.attemptId, 10_000);
      await eventually(() => loggersOf(tag).length === 0, "the logger has ended with its job");
    },
  );
});

function loggersOf(tag: string): readonly number[] {
  const { stdout } = spawnSync("pgrep", ["-f", `^/usr/bin/logger -t ${tag}`], { encoding: "utf8" });
  return stdout.split("\n").filter(Boolean).map(Number);
}
