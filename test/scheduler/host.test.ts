import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hostClock, hostId, hostLogger, hostSleeper, hostTimeZone } from "../../src/scheduler/host.js";
import { createScheduler, memoryStore } from "../../src/scheduler/index.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();

describe("the zone of the host", () => {
  const before = process.env["TZ"];
  beforeEach(() => {
    delete process.env["TZ"];
  });
  afterEach(() => {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  });

  function link(target: string): string {
    const directory = temporary();
    const file = path.join(directory, target);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, "");
    fs.symlinkSync(file, path.join(directory, "localtime"));
    return path.join(directory, "localtime");
  }

  test.each([
    ["a zone", "zoneinfo/Europe/Berlin", "Europe/Berlin"],
    ["the posix tree", "zoneinfo/posix/America/New_York", "America/New_York"],
    ["three parts", "zoneinfo/America/Argentina/Salta", "America/Argentina/Salta"],
  ])("is read from the system's link at every use: %s", (_, target, expected) => {
    expect(hostTimeZone(link(target))).toBe(expected);
  });

  test.each([
    ["no link", "/nowhere/localtime"],
    ["a zone that nobody knows", ""],
  ])("else it is what the engine says: %s", (_, file) => {
    const shown = file === "" ? link("zoneinfo/Middle/Earth") : file;
    expect(hostTimeZone(shown)).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
  });

  test("TZ wins, and may change while the process runs", () => {
    process.env["TZ"] = "Asia/Tokyo";
    expect(hostTimeZone(link("zoneinfo/Europe/Berlin"))).toBe("Asia/Tokyo");
    process.env["TZ"] = "Australia/Lord_Howe";
    expect(hostClock.timeZone()).toBe("Australia/Lord_Howe");
  });
});

describe("the sleeper of the host", () => {
  test("wake ends the sleep under way; without one it does nothing", async () => {
    const sleeper = hostSleeper();
    sleeper.wake();
    const sleeping = sleeper.sleep(3_600_000);
    sleeper.wake();
    await sleeping;
    await sleeper.sleep(0);
    sleeper.wake();
  });
});

test("identifiers differ, the clock is the host's", () => {
  expect(hostId()).not.toBe(hostId());
  const before = Date.now();
  expect(hostClock.now()).toBeGreaterThanOrEqual(before);
});

test("without a logger only warnings and errors are shown", async () => {
  const [warn, error] = [vi.spyOn(console, "warn"), vi.spyOn(console, "error")].map((spy) => spy.mockReturnValue());
  const log = vi.spyOn(console, "log");
  hostLogger.debug({}, "quiet");
  hostLogger.info({}, "quiet");
  hostLogger.warn({ a: 1 }, "look");
  hostLogger.error({ b: 2 }, "help");
  expect(log).not.toHaveBeenCalled();
  expect(warn?.mock.calls).toEqual([["kron scheduler: look", { a: 1 }]]);
  expect(error?.mock.calls).toEqual([["kron scheduler: help", { b: 2 }]]);
  vi.restoreAllMocks();
});

test("a scheduler on the host's own clock, sleeper and identifiers runs a task in its minute", async () => {
  const scheduler = createScheduler({ store: memoryStore() });
  await new Promise<void>((started) => {
    void scheduler.initialize([["now", "* * * * *", async () => started(), 0]]);
  });
  await scheduler.stop();
});
