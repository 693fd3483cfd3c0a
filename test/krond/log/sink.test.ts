import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { Socket } from "node:net";
import * as path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLog } from "../../../src/krond/log/logging.js";
import { DescriptorSink, LOG_SINK_LIMITS } from "../../../src/krond/log/sink.js";
import { bundleEntry } from "../../support/bundle.js";
import { temporaryDirectories } from "../../support/temporary.js";

const newDirectory = temporaryDirectories();

describe("a descriptor that makes trouble", () => {
  function fault(code: string): Error {
    return Object.assign(new Error(code), { code });
  }

  /** Answers writes as scripted: a number of bytes taken at most, or a fault. */
  function scripted(script: readonly (number | string)[]) {
    const rest = [...script];
    let written = "";
    let pausedMs = 0;
    const sink = new DescriptorSink({
      write: (data, offset) => {
        const answer = rest.shift() ?? data.length;
        if (typeof answer === "string") throw fault(answer);
        const taken = data.subarray(offset, offset + answer);
        written += taken.toString();
        return taken.length;
      },
      pause: (ms) => {
        pausedMs += ms;
      },
    });
    return { sink, written: () => written, pausedMs: () => pausedMs };
  }

  test("a write that takes less is continued", () => {
    const { sink, written } = scripted([2, 1]);
    expect([sink.write("hello"), written()]).toEqual([true, "hello\n"]);
  });

  test("EAGAIN: waits a little for the reader", () => {
    const { sink, written, pausedMs } = scripted(["EAGAIN", "EINTR", 3, "EAGAIN"]);
    expect([sink.write("hello"), written(), pausedMs()]).toEqual([true, "hello\n", 3 * LOG_SINK_LIMITS.pauseMs]);
  });

  test("EAGAIN for long: holds up the daemon once, then drops lines without waiting until the reader is back", () => {
    const many = Array.from({ length: 23 }, () => "EAGAIN");
    const { sink, written, pausedMs } = scripted(many);
    expect(["a", "b", "c", "d"].map((line) => sink.write(line))).toEqual([false, false, false, true]);
    expect([written(), pausedMs()]).toEqual(["d\n", LOG_SINK_LIMITS.stallMs]);
  });

  test("a line that was cut off does not swallow the next one", () => {
    const { sink, written } = scripted([2, "ENOSPC", "ENOSPC"]);
    expect(["hello", "x", "y"].map((line) => sink.write(line))).toEqual([false, false, true]);
    expect(written()).toBe("he\ny\n");
  });

  test.each(["EPIPE", "ENOSPC", "EIO", "EBADF", "EFBIG", "EDQUOT"])(
    "%s costs lines, and the first one after says how many",
    (code) => {
      const { sink, written } = scripted([code, code]);
      const log = createLog({ format: "json", sink, now: () => 0 });
      for (const identity of ["a", "b", "c", "d"]) {
        log.daemon({ at: 0, event: "resumed", component: "scheduler", level: "info", fields: { identity } });
      }
      const lines = written()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(lines).toMatchObject([
        {
          event: "error",
          error_code: "log-unwritable",
          error_type: "SystemError",
          message: "2 lines of this log could not be written",
        },
        { event: "resumed", identity: "c" },
        { event: "resumed", identity: "d" },
      ]);
      expect(log.lostLines).toBe(2);
    },
  );
});

describe("real processes", () => {
  let program: Awaited<ReturnType<typeof bundleEntry>>;
  beforeAll(async () => {
    program = await bundleEntry("test/krond/process/log-writer.ts");
  });
  afterAll(() => program.remove());

  test.each(["json", "text"])("SIGKILL: every %s line logged before it is on the disk", (format) => {
    const file = path.join(newDirectory(), "log");
    const descriptor = fs.openSync(file, "w");
    const { signal } = spawnSync(process.execPath, [program.file, format, "kill", "500"], {
      stdio: ["ignore", descriptor, "inherit", "pipe"],
    });
    fs.closeSync(descriptor);
    expect(signal).toBe("SIGKILL");
    const lines = fs.readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(500);
    expect(lines.at(-1)).toMatch(/job\/499\b/);
  });

  test("ENOSPC: a full disk does not end the daemon", () => {
    const full = fs.openSync("/dev/full", "w");
    const { status, output } = spawnSync(process.execPath, [program.file, "json", "exit", "100"], {
      stdio: ["ignore", full, "inherit", "pipe"],
      encoding: "utf8",
    });
    fs.closeSync(full);
    expect([status, output[3]]).toEqual([0, "done 100\n"]);
  });

  test("EPIPE: a reader that went away does not end the daemon", async () => {
    const script = '"$0" "$1" json exit 5000 3>&2 | head -1 >/dev/null';
    const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, program.file], { encoding: "utf8" });
    expect(status).toBe(0);
    const lost = Number(/^done (\d+)\n$/.exec(stderr)?.[1]);
    expect(lost).toBeGreaterThan(0);
  });

  test("EBADF: neither does a standard output that is closed", () => {
    const script = '"$0" "$1" json exit 100 3>&2 >&-';
    const { stderr } = spawnSync("sh", ["-c", script, process.execPath, program.file], { encoding: "utf8" });
    expect(stderr).toMatch(/^done \d+\n$/);
  });

  test("a reader that stopped reading does not hold it up; when it is back it learns what was lost", async () => {
    const fifo = path.join(newDirectory(), "pipe");
    expect(spawnSync("mkfifo", [fifo]).status).toBe(0);
    const readEnd = fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const writeEnd = fs.openSync(fifo, "w");
    const child = spawn(process.execPath, [program.file, "json", "wait", "5000"], {
      stdio: ["pipe", writeEnd, "inherit", "pipe"],
    });
    fs.closeSync(writeEnd);
    const reports = createInterface({ input: child.stdio[3] as Readable })[Symbol.asyncIterator]();
    // Nobody reads its output: it comes to its end all the same.
    const done = (await reports.next()).value as string;
    const lost = Number(/^done (\d+)$/.exec(done)?.[1]);
    expect(lost).toBeGreaterThan(1000);
    const reader = createInterface({ input: new Socket({ fd: readEnd }) });
    const lines: string[] = [];
    for await (const line of reader) {
      lines.push(line);
      if (line.includes(`job/${4999 - lost}"`)) child.stdin?.write("go\n");
      if (line.includes("job/1000000")) child.stdin?.end();
    }
    expect(JSON.parse(lines.at(-2) ?? "")).toMatchObject({
      error_code: "log-unwritable",
      message: `${lost} lines of this log could not be written`,
    });
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ identity: "job/1000000" });
  });

  test("SIGHUP changes nothing: lines before and after it are there", async () => {
    const file = path.join(newDirectory(), "log");
    const descriptor = fs.openSync(file, "w");
    const child = spawn(process.execPath, [program.file, "text", "hup", "10"], {
      stdio: ["ignore", descriptor, "inherit", "pipe"],
    });
    fs.closeSync(descriptor);
    const reports = createInterface({ input: child.stdio[3] as Readable })[Symbol.asyncIterator]();
    expect((await reports.next()).value).toBe("done 0");
    child.kill("SIGHUP");
    expect((await reports.next()).value).toBe("hup 0");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(fs.readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(11);
  });
});
