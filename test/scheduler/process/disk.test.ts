/** The default store on a disk that is full, or that ends a file: the host process is told, and lives. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canMount, mounts, NEEDS_MOUNT } from "../../faults/mounts.js";
import { bundleEntry } from "../../support/bundle.js";
import { type TestProcess, testProcesses } from "../../support/process.js";
import { temporaryDirectories } from "../../support/temporary.js";

interface Line {
  readonly type: string;
  readonly operation?: string;
  readonly error?: string;
  readonly message?: string;
}

const start = testProcesses();
const temporary = temporaryDirectories();
const mount = mounts();
let runner = "";
let remove = (): void => {};

beforeAll(async () => {
  const bundle = await bundleEntry(path.join(import.meta.dirname, "disk-runner.ts"));
  runner = bundle.file;
  remove = () => bundle.remove();
});
afterAll(() => remove());

/** Reads on until a line of the type comes. */
async function until(running: TestProcess, type: string): Promise<Line> {
  for (;;) {
    const text = await running.line();
    if (text === null) throw new Error(`the process ended with ${await running.ended} before it said ${type}`);
    const line = JSON.parse(text) as Line;
    if (line.type === type) return line;
  }
}

function minute(running: TestProcess): void {
  running.child.stdin?.write("\n");
}

async function stops(running: TestProcess): Promise<void> {
  running.child.stdin?.end();
  await until(running, "stopped");
  expect(await running.ended).toBe(0);
}

/** Minutes pass until a transaction fails. */
async function failure(running: TestProcess): Promise<Line> {
  for (let minutes = 0; minutes < 100; minutes++) {
    minute(running);
    for (;;) {
      const line = JSON.parse((await running.line()) ?? '{"type":"ended"}') as Line;
      if (line.type === "ended") throw new Error(`the process ended with ${await running.ended}`);
      if (line.type === "StoreFailed") return line;
      if (line.type === "asleep") break;
    }
  }
  throw new Error("no transaction failed");
}

function fill(directory: string): string {
  const file = path.join(directory, "filler");
  const descriptor = fs.openSync(file, "w");
  const page = Buffer.alloc(4096);
  try {
    // What is free may change meanwhile: until the disk itself refuses.
    for (;;) fs.writeSync(descriptor, page);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    fs.closeSync(descriptor);
  }
  return file;
}

describe("a write that the disk refuses", () => {
  test("a file that may grow no further: told again and again, and the process ends when it is asked to", async () => {
    const limited = ["sh", "-c", 'ulimit -f 400; exec "$0" "$@"'];
    const running = start(runner, [path.join(temporary(), "store"), "300"], limited);
    await until(running, "asleep");
    const { operation, error } = await failure(running);
    expect(["claim", "complete"]).toContain(operation);
    expect(error).toBe("Error: Input/output error");
    await failure(running);
    await stops(running);
  });

  test("at initialize: it rejects, and the process lives on", async () => {
    const limited = ["sh", "-c", 'ulimit -f 400; exec "$0" "$@"'];
    const running = start(runner, [path.join(temporary(), "store"), "5000"], limited);
    const { message } = await until(running, "refused");
    expect(message).toBe("Task store failed to reconcile: Input/output error");
    await stops(running);
  });

  test.skipIf(!canMount)(`a full disk: it says so, and with room again everything runs${NEEDS_MOUNT}`, async () => {
    const directory = temporary();
    mount("-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", directory);
    const running = start(runner, [directory, "300"]);
    await until(running, "asleep");
    const filler = fill(directory);
    expect((await failure(running)).error).toMatch(/no space left on device/i);
    fs.rmSync(filler);
    minute(running);
    await until(running, "TaskRunCompleted");
    await stops(running);
  });

  test.skipIf(!canMount)(`a disk that was full from the start: refused, and then not${NEEDS_MOUNT}`, async () => {
    const directory = temporary();
    mount("-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", directory);
    const filler = fill(directory);
    const refused = start(runner, [directory, "300"]);
    expect((await until(refused, "refused")).message).toMatch(/no space left on device/i);
    await stops(refused);
    fs.rmSync(filler);
    const running = start(runner, [directory, "300"]);
    await until(running, "TaskRunCompleted");
    await stops(running);
  });
});
