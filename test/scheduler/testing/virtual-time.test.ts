import { describe, expect, test } from "vitest";
import { type VirtualTime, virtualTime } from "../../../src/scheduler/testing/index.js";

const START = Date.UTC(2026, 0, 1);

function start(): VirtualTime {
  return virtualTime({ startAt: START });
}

describe("virtual time", () => {
  const READINGS = [
    { startAt: START, timeZone: "UTC", iso: "2026-01-01T00:00:00.000Z" },
    { startAt: "2026-01-01T00:00:00Z", timeZone: "Europe/Berlin", iso: "2026-01-01T00:00:00.000Z" },
    { startAt: "2026-01-01T00:00:00+01:00", timeZone: "UTC", iso: "2025-12-31T23:00:00.000Z" },
    { startAt: "2026-01-01T00:00", timeZone: "Europe/Berlin", iso: "2025-12-31T23:00:00.000Z" },
    { startAt: "2026-10-04T02:15", timeZone: "Australia/Lord_Howe", iso: "2026-10-03T15:45:00.000Z" },
  ];
  test.each(READINGS)("$startAt in $timeZone is $iso", ({ startAt, timeZone, iso }) => {
    expect(new Date(virtualTime({ startAt, timeZone }).clock.now()).toISOString()).toBe(iso);
  });

  test("stands still until it is told to move", async () => {
    const time = start();
    await time.settle();
    expect(time.stamp()).toEqual({ at: START, ranMs: 0 });
    await time.advance(1_500);
    expect(time.stamp()).toEqual({ at: START + 1_500, ranMs: 1_500 });
    await time.advanceTo("2026-01-01T00:01:00Z");
    expect(time.clock.now()).toBe(START + 60_000);
  });

  test("a sleep ends when its time has come, and sees that time", async () => {
    const time = start();
    const seen: number[] = [];
    const sleepTwice = async (): Promise<void> => {
      await time.sleeper.sleep(300);
      seen.push(time.clock.now() - START);
      await time.sleeper.sleep(300);
      seen.push(time.clock.now() - START);
    };
    void sleepTwice();
    await time.advance(599);
    expect(seen).toEqual([300]);
    await time.advance(1);
    expect(seen).toEqual([300, 600]);
  });

  test("timers happen in order of time, then of age, and can be cancelled", async () => {
    const time = start();
    const seen: string[] = [];
    time.after(20, () => seen.push("late"));
    time.after(10, () => seen.push("first"));
    const cancel = time.after(10, () => seen.push("cancelled"));
    time.after(10, () => seen.push("second"));
    cancel();
    await time.advance(20);
    expect(seen).toEqual(["first", "second", "late"]);
  });

  test("a sleep of no length takes a moment, so that time passes even for who never waits", async () => {
    const time = start();
    let turns = 0;
    const spin = async (): Promise<void> => {
      for (;;) {
        await time.sleeper.sleep(0);
        turns++;
      }
    };
    void spin();
    await time.advance(100);
    expect(turns).toBe(100);
  });

  test("wake ends the sleeps of its own sleeper, and only those", async () => {
    const time = start();
    const [mine, other] = [time.newSleeper(), time.newSleeper()];
    const woken: string[] = [];
    void mine.sleep(1_000).then(() => woken.push("mine"));
    void other.sleep(1_000).then(() => woken.push("other"));
    mine.wake();
    await time.settle();
    expect(woken).toEqual(["mine"]);
    await time.advance(1_000);
    expect(woken).toEqual(["mine", "other"]);
  });

  test("setting the wall clock moves no timer", async () => {
    const time = start();
    let isOver = false;
    void time.sleeper.sleep(1_000).then(() => {
      isOver = true;
    });
    await time.setWallClock(START - 3_600_000);
    await time.advance(999);
    expect(isOver).toBe(false);
    await time.advance(1);
    expect(isOver).toBe(true);
    expect(time.stamp()).toEqual({ at: START - 3_600_000 + 1_000, ranMs: 1_000 });
  });

  test("while the process is frozen nothing runs; what came due runs at the end, late", async () => {
    const time = start();
    const seen: number[] = [];
    time.after(1_000, () => seen.push(time.clock.now() - START));
    await time.pauseProcess(60_000);
    expect(seen).toEqual([60_000]);
    expect(time.stamp()).toEqual({ at: START + 60_000, ranMs: 0 });
  });

  test("the zone changes when it is told to", async () => {
    const time = start();
    expect(time.clock.timeZone()).toBe("UTC");
    await time.setTimeZone("Asia/Kathmandu");
    expect(time.clock.timeZone()).toBe("Asia/Kathmandu");
  });

  test("a program that never comes to rest is reported, not waited for", async () => {
    const time = start();
    let isOver = false;
    const spin = async (): Promise<void> => {
      while (!isOver) {
        time.clock.now();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    void spin();
    await expect(time.settle()).rejects.toThrow("never comes to rest");
    isOver = true;
  });

  const IMPOSSIBLE = [
    { what: "advance by a negative time", act: (time: VirtualTime) => time.advance(-1) },
    { what: "advance by NaN", act: (time: VirtualTime) => time.advance(Number.NaN) },
    { what: "advance to the past", act: (time: VirtualTime) => time.advanceTo(START - 1) },
    { what: "freeze for a negative time", act: (time: VirtualTime) => time.pauseProcess(-1) },
    { what: "sleep for NaN", act: (time: VirtualTime) => time.sleeper.sleep(Number.NaN) },
  ];
  test.each(IMPOSSIBLE)("refuses to $what", async ({ act }) => {
    await expect(act(start())).rejects.toThrow();
  });
});
