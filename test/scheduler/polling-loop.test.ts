import { afterEach, describe, expect, test } from "vitest";
import { PollingLoop } from "../../src/scheduler/polling-loop.js";
import { settle } from "./support.js";

const running: PollingLoop[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((loop) => loop.stop()));
});

/** A loop over a sleeper that only wakes when told to, with a protocol of what happened. */
function loopOf(sleepMs: (loop: PollingLoop, sleeps: number) => number, sleeps = true) {
  const protocol: string[] = [];
  let end = (): void => {};
  let asked = 0;
  const sleeper = {
    sleep: (ms: number): Promise<void> => {
      protocol.push(`sleep ${ms}`);
      if (!sleeps) return Promise.reject(new Error("insomnia"));
      return new Promise((resolve) => {
        end = resolve;
      });
    },
    wake: () => {
      protocol.push("wake");
      end();
    },
  };
  const loop: PollingLoop = new PollingLoop({
    evaluate: async () => void protocol.push("evaluate"),
    sleepMs: () => sleepMs(loop, ++asked),
    sleeper: () => sleeper,
    faulted: (_, what) => void protocol.push(what),
    sleepless: () => void protocol.push("sleepless"),
  });
  running.push(loop);
  loop.start();
  return { loop, protocol, end: () => end() };
}

describe("the polling loop", () => {
  test("evaluates and sleeps in turns", async () => {
    const { protocol, end } = loopOf(() => 5);
    await settle();
    end();
    await settle();
    expect(protocol).toEqual(["evaluate", "sleep 5", "evaluate", "sleep 5"]);
  });

  test("a wake-up between the question how long to sleep and the sleep is not lost", async () => {
    const { protocol } = loopOf((loop, asked) => {
      if (asked === 1) queueMicrotask(() => loop.wake());
      return 5;
    });
    await settle();
    expect(protocol).toEqual(["evaluate", "sleep 5", "wake", "evaluate", "sleep 5"]);
  });

  test("a wake-up while it is awake does nothing: the next sleep is computed from what holds then", async () => {
    const { loop, protocol } = loopOf(() => 5);
    loop.wake();
    await settle();
    expect(protocol).toEqual(["evaluate", "sleep 5"]);
  });

  test("stop during the first macrotask: nothing is evaluated", async () => {
    const { loop, protocol } = loopOf(() => 5);
    await loop.stop();
    expect(protocol).toEqual([]);
  });

  test("an unknown wake-up is a fault and a short pause", async () => {
    const { protocol } = loopOf(() => {
      throw new Error("no clock");
    });
    await settle();
    expect(protocol).toEqual(["evaluate", "the next wake-up is unknown", "sleep 1000"]);
  });

  test("a sleeper that fails is replaced for a pause, which stop ends", async () => {
    const { loop, protocol } = loopOf(() => 5, false);
    await settle();
    await loop.stop();
    expect(protocol.slice(0, 3)).toEqual(["evaluate", "sleep 5", "the sleeper failed"]);
    expect(protocol.filter((entry) => entry === "evaluate")).toHaveLength(1);
  });
});
